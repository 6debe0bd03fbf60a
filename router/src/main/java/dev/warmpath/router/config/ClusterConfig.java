package dev.warmpath.router.config;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * How routers in front of one fleet find and reach each other.
 *
 * <p>Immutable.
 *
 * @param secret what the routers of a mesh know and nobody else does
 * @param host null: the machine's own
 */
public record ClusterConfig(
    @Key(defaultValue = "off") Mode mode,
    @Key(defaultValue = "warmpath") String name,
    @Key @Nullable String member,
    @Key(secret = true) @Nullable String secret,
    @Key(defaultValue = "false") boolean insecure,
    @Key @Nullable String host,
    @Key(defaultValue = "7800", min = 1, max = 65_535) int port,
    @Key List<String> peers,
    @Key @Nullable String dns,
    @Key @Nullable String service,
    @Key @Nullable String namespace,
    @Key @Nullable String redisUrl,
    @Key(secret = true) @Nullable String redisPassword,
    @Key(defaultValue = "30000", min = 1, max = 3_600_000) int seedWaitMs,
    @Key(defaultValue = "5", min = 1, max = 10_000, advanced = true) int deltaMs,
    @Key(defaultValue = "4000", min = 1000, max = 3_600_000, advanced = true) int expireMs,
    @Key(defaultValue = "4096", min = 2048, max = 1_048_576, advanced = true) int queueKb) {

  /** What brings messages from router to router. */
  public enum Mode {
    OFF,
    MESH,
    REDIS
  }

  /** Short enough for a guesser to try them all. */
  private static final int SHORTEST_SECRET = 16;

  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,62}");
  private static final Pattern MEMBER = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,127}");
  private static final Pattern PEER =
      Pattern.compile("(?:[A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.]+])(?::[0-9]{1,5})?");

  public ClusterConfig {
    peers = List.copyOf(peers);
    check(NAME.matcher(name).matches(), "'cluster.name' must be letters, digits, '.', '_', '-'");
    check(
        member == null || MEMBER.matcher(member).matches(),
        "'cluster.member' must be up to 128 letters, digits, '.', '_', '-'");
    check(
        secret == null || secret.length() >= SHORTEST_SECRET,
        "'cluster.secret' must have at least " + SHORTEST_SECRET + " characters");
    peers.forEach(ClusterConfig::checkPeer);
    only(mode, Mode.MESH, "secret", secret != null);
    only(mode, Mode.MESH, "insecure", insecure);
    only(mode, Mode.MESH, "host", host != null);
    only(mode, Mode.MESH, "peers", !peers.isEmpty());
    only(mode, Mode.MESH, "dns", dns != null);
    only(mode, Mode.MESH, "service", service != null);
    only(mode, Mode.REDIS, "redis-url", redisUrl != null);
    only(mode, Mode.REDIS, "redis-password", redisPassword != null);
    check(namespace == null || service != null, "'cluster.namespace' needs 'cluster.service'");
    if (mode == Mode.MESH) {
      checkMesh(secret, insecure, host, peers, dns, service);
    }
    if (mode == Mode.REDIS) {
      check(redisUrl != null, "'cluster.mode' redis needs 'cluster.redis-url'");
      checkRedis(String.valueOf(redisUrl));
    }
  }

  private static void checkMesh(
      @Nullable String secret,
      boolean insecure,
      @Nullable String host,
      List<String> peers,
      @Nullable String dns,
      @Nullable String service) {
    check(
        secret != null || insecure,
        "'cluster.mode' mesh needs 'cluster.secret-file', or 'cluster.insecure' for a trial");
    check(
        secret == null || !insecure, "'cluster.secret' and 'cluster.insecure' exclude each other");
    int ways = (peers.isEmpty() ? 0 : 1) + (dns == null ? 0 : 1) + (service == null ? 0 : 1);
    check(
        ways == 1,
        "'cluster.mode' mesh needs one of 'cluster.peers', 'cluster.dns' and 'cluster.service'");
    check(
        host == null || !(host.equals("0.0.0.0") || host.equals("::")),
        "'cluster.host' must be one address, which the others reach");
  }

  private static void checkPeer(String peer) {
    int colon = peer.endsWith("]") ? -1 : peer.lastIndexOf(':');
    boolean isValid =
        PEER.matcher(peer).matches()
            && (colon < 0 || isPort(Integer.parseInt(peer.substring(colon + 1))));
    check(isValid, "'cluster.peers': '" + peer + "' must be HOST or HOST:PORT");
  }

  private static boolean isPort(int port) {
    return port > 0 && port <= 65_535;
  }

  private static void checkRedis(String url) {
    try {
      URI uri = new URI(url);
      String scheme = String.valueOf(uri.getScheme());
      String user = uri.getRawUserInfo() == null ? "" : uri.getRawUserInfo();
      boolean isSentinel = scheme.equals("redis-sentinel") || scheme.equals("rediss-sentinel");
      check(
          (isSentinel || scheme.equals("redis") || scheme.equals("rediss"))
              && uri.getRawAuthority() != null,
          "'cluster.redis-url' must be redis://HOST:PORT, rediss://HOST:PORT,"
              + " redis://HOST:PORT,HOST:PORT or redis-sentinel://HOST:PORT,HOST:PORT#MASTER");
      check(
          !isSentinel || uri.getFragment() != null,
          "'cluster.redis-url': redis-sentinel needs #MASTER");
      String authority = uri.getRawAuthority();
      int at = authority.indexOf('@');
      user = at < 0 ? user : authority.substring(0, at);
      check(
          !user.contains(":") && (at < 0 || !user.isEmpty()),
          "'cluster.redis-url' must not hold a password, which 'cluster.redis-password-file' is"
              + " for");
    } catch (URISyntaxException e) {
      // Without the text, which may hold a password.
      throw new IllegalArgumentException("'cluster.redis-url': " + e.getReason(), e);
    }
  }

  private static void only(Mode mode, Mode owner, String key, boolean isGiven) {
    check(
        mode == owner || mode == Mode.OFF || !isGiven,
        "'cluster.%s' needs 'cluster.mode' %s".formatted(key, ConfigKey.choice(owner)));
  }

  private static void check(boolean holds, String problem) {
    if (!holds) {
      throw new IllegalArgumentException(problem);
    }
  }
}
