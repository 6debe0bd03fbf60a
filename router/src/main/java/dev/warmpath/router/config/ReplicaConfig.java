package dev.warmpath.router.config;

import dev.warmpath.eventingest.sglang.EventFormat;
import dev.warmpath.eventingest.sglang.SglangNamespaces;
import dev.warmpath.eventingest.sglang.SglangRules;
import dev.warmpath.kvindex.CopyCounting;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One replica as it was configured.
 *
 * <p>Immutable.
 *
 * @param url {@code http://host:port}, without path
 * @param events ZMQ endpoint of its KV events, or null when it has none
 * @param replay ZMQ endpoint that replays missed events, or null
 * @param bind true when the router binds the events endpoint
 * @param ranks data-parallel ranks behind the URL
 * @param cache what its events do not say of its cache
 * @param models what it serves until it says so itself; empty for anything
 */
public record ReplicaConfig(
    String name,
    URI url,
    @Nullable String events,
    @Nullable String replay,
    boolean bind,
    int ranks,
    Dialect dialect,
    Cache cache,
    List<String> models) {

  /**
   * What an engine's events do not say of its cache.
   *
   * @param removals what the removal of a block means that was announced several times; null: as
   *     usual for the dialect
   * @param maxBlocks how many blocks one rank can hold, in all tiers and groups; 0: as it says
   *     itself
   * @param reportsPerMinute full reports that one rank may be asked for in a minute; 0 for none
   * @param hashSeed the engine's {@code PYTHONHASHSEED}, null if nobody said
   * @param hiddenNamespaces whether requests may be in name spaces that its events do not show
   * @param sglang what else must be known of an SGLang engine
   */
  public record Cache(
      @Nullable CopyCounting removals,
      int maxBlocks,
      int reportsPerMinute,
      @Nullable String hashSeed,
      boolean hiddenNamespaces,
      SglangRules sglang) {

    static @Nullable CopyCounting removals(@Nullable String name) {
      return switch (name == null ? "" : name) {
        case "per-copy" -> CopyCounting.PER_COPY;
        case "last-copy" -> CopyCounting.PRESENCE;
        default -> null;
      };
    }

    /** How an SGLang engine was started, with adapters that are each NAME=PATH. */
    static SglangRules sglang(String eventFormat, List<String> loras, int loadBackTokens) {
      Map<String, String> paths = new HashMap<>();
      for (String lora : loras) {
        int equals = lora.indexOf('=');
        if (equals < 1 || equals == lora.length() - 1) {
          throw new IllegalArgumentException("'loras' must each be NAME=PATH: '" + lora + "'");
        }
        String name = lora.substring(0, equals);
        if (paths.put(name, lora.substring(equals + 1)) != null) {
          throw new IllegalArgumentException("'loras' must have each name once: '" + name + "'");
        }
      }
      EventFormat format = EventFormat.valueOf(eventFormat.toUpperCase(Locale.ROOT));
      return new SglangRules(SglangNamespaces.of(format, paths), loadBackTokens);
    }
  }

  /** Which engine's rules it follows. */
  public enum Dialect {
    VLLM,
    /** vLLM to 0.32 with EAGLE or MTP: the last block of a hit is computed again. */
    VLLM_EAGLE,
    SGLANG,
    /**
     * SGLang with sliding-window or Mamba memory, which says nothing of that: what it announces is
     * more than it can reuse.
     */
    SGLANG_HYBRID,
    TRTLLM,
    /** TensorRT-LLM with sliding windows or state layers, of which its events do not tell. */
    TRTLLM_HYBRID;

    /** Whether it follows SGLang's rules. */
    public boolean isSglang() {
      return this == SGLANG || this == SGLANG_HYBRID;
    }

    /** Whether what it announces is only the most that it may reuse. */
    public boolean isUpperBound() {
      return this == SGLANG_HYBRID || this == TRTLLM_HYBRID;
    }

    static Dialect of(String name) {
      return valueOf(name.toUpperCase(Locale.ROOT).replace('-', '_'));
    }
  }

  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,62}");

  public ReplicaConfig {
    models = List.copyOf(models);
    if (!NAME.matcher(name).matches()) {
      throw new IllegalArgumentException(
          "'name' must be letters, digits, '.', '_', '-', at most 63: '" + name + "'");
    }
    checkUrl(url);
    checkEndpoint("events", events, ranks);
    checkEndpoint("replay", replay, ranks);
    if (events == null && (replay != null || bind)) {
      throw new IllegalArgumentException("'replay' and 'bind' need 'events'");
    }
    if (cache.reportsPerMinute() > 0 && dialect != Dialect.VLLM) {
      throw new IllegalArgumentException("'full-reports-per-minute' needs dialect vllm");
    }
    if (!dialect.isSglang() && !cache.sglang().namespaces().equals(SglangNamespaces.PLAIN)) {
      throw new IllegalArgumentException("'event-format' and 'loras' need dialect sglang");
    }
  }

  static URI parseUrl(String text) {
    try {
      return new URI(text);
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException("'url' is not a URL: '" + text + "'", e);
    }
  }

  /** An endpoint of rank {@code rank}: its port is that of rank 0 plus the rank. */
  public static String ofRank(String endpoint, int rank) {
    int colon = endpoint.lastIndexOf(':');
    if (rank == 0) {
      return endpoint;
    }
    return endpoint.substring(0, colon + 1)
        + (Integer.parseInt(endpoint.substring(colon + 1)) + rank);
  }

  /** The port of {@link #url}, 80 when it names none. */
  public int port() {
    return url.getPort() < 0 ? 80 : url.getPort();
  }

  private static void checkUrl(URI url) {
    boolean bare = url.getRawQuery() == null && url.getRawUserInfo() == null;
    boolean noPath = url.getRawPath() == null || url.getRawPath().matches("/?");
    if (!"http".equals(url.getScheme()) || url.getHost() == null || !bare || !noPath) {
      throw new IllegalArgumentException(
          "'url' must be http://host:port without path: '" + url + "'");
    }
  }

  private static void checkEndpoint(String key, @Nullable String endpoint, int ranks) {
    if (endpoint != null && !endpoint.matches("(tcp|ipc|inproc)://.+")) {
      throw new IllegalArgumentException(
          "'" + key + "' must be a ZMQ endpoint such as tcp://host:5557: '" + endpoint + "'");
    }
    if (endpoint != null && ranks > 1 && !endpoint.matches("tcp://.+:[0-9]{1,5}")) {
      throw new IllegalArgumentException("'" + key + "' of several ranks must be tcp://host:port");
    }
  }
}
