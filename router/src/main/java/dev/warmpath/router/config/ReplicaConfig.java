package dev.warmpath.router.config;

import dev.warmpath.eventingest.hashing.EventFormat;
import dev.warmpath.eventingest.hashing.SglangNamespaces;
import dev.warmpath.eventingest.hashing.SglangRules;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.router.fleet.KvTransfer;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One replica as it was configured.
 *
 * <p>Immutable.
 */
public record ReplicaConfig(
    @Key(required = true) String name,
    @Key(required = true) URI url,
    @Key @Nullable String events,
    @Key @Nullable String replay,
    @Key(defaultValue = "false", advanced = true) boolean bind,
    @Key(defaultValue = "1", min = 1, max = 1024) int ranks,
    @Key(defaultValue = "0", max = 64_511, advanced = true) int firstRank,
    @Key(defaultValue = "false", advanced = true) boolean globalRanks,
    @Key(defaultValue = "1.0", min = 0.01, max = 100.0, advanced = true) double weight,
    @Key(defaultValue = "vllm") Dialect dialect,
    @Key(advanced = true) @Nullable CopyCounting removals,
    @Key(defaultValue = "0", max = 1_000_000_000, advanced = true) int maxBlocks,
    @Key(advanced = true, secret = true) @Nullable String hashSeed,
    @Key(defaultValue = "default", advanced = true) EventFormat eventFormat,
    @Key(advanced = true) List<String> loras,
    @Key(defaultValue = "" + SglangRules.LOAD_BACK_TOKENS, max = 1_000_000, advanced = true)
        int loadBackTokens,
    @Key List<String> models,
    KvTransferConfig transfer,
    UpstreamConfig upstream) {

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

    /** Whether it is vLLM. */
    public boolean isVllm() {
      return this == VLLM || this == VLLM_EAGLE;
    }

    /** Whether it follows SGLang's rules. */
    public boolean isSglang() {
      return this == SGLANG || this == SGLANG_HYBRID;
    }

    /** Whether what it announces is only an upper bound of what it may reuse. */
    public boolean isUpperBound() {
      return this == SGLANG_HYBRID || this == TRTLLM_HYBRID;
    }
  }

  /** The value of {@link #events} by which the engine is asked. */
  private static final String AUTO = "auto";

  /** In a list of endpoints, that of a rank without any. */
  private static final String NONE = "-";

  private static final String ENDPOINT = "(tcp|ipc|inproc)://\\S+";
  private static final String WITH_PORT = "tcp://\\S+:[0-9]{1,5}";

  private static final int MAX_PORT = 65_535;

  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,62}");

  public ReplicaConfig {
    models = List.copyOf(models);
    loras = List.copyOf(loras);
    if (!NAME.matcher(name).matches()) {
      throw new IllegalArgumentException(
          "'name' must be letters, digits, '.', '_', '-', at most 63: '" + name + "'");
    }
    checkUrl(url);
    if (upstream.hasTls() && !isHttps(url)) {
      throw new IllegalArgumentException("'tls-ca' and 'tls-cert' need a 'url' with https://");
    }
    if (AUTO.equals(events)) {
      if (replay != null || bind) {
        throw new IllegalArgumentException("'replay' and 'bind' need an endpoint in 'events'");
      }
      if (!dialect.isVllm()) {
        throw new IllegalArgumentException("'events: auto' needs dialect vllm");
      }
    } else {
      checkEndpoints("events", events, firstRank, ranks);
    }
    checkEndpoints("replay", replay, firstRank, ranks);
    if (events == null && (replay != null || bind)) {
      throw new IllegalArgumentException("'replay' and 'bind' need 'events'");
    }
    SglangNamespaces namespaces = SglangNamespaces.of(eventFormat, paths(loras));
    if (!dialect.isSglang() && !namespaces.equals(SglangNamespaces.PLAIN)) {
      throw new IllegalArgumentException("'event-format' and 'loras' need dialect sglang");
    }
  }

  /**
   * The model whose block keys it shares, as far as the configuration tells.
   *
   * @param onlyModel for a replica that names none
   */
  public String blockModel(String onlyModel) {
    return models.stream().findFirst().orElse(onlyModel);
  }

  /** What routing sees of how its KV cache gets elsewhere. */
  public KvTransfer kvTransfer() {
    return transfer.kvTransfer(url, dialect.isVllm());
  }

  /** How an SGLang engine was started. */
  public SglangRules sglang() {
    return new SglangRules(SglangNamespaces.of(eventFormat, paths(loras)), loadBackTokens);
  }

  private static Map<String, String> paths(List<String> loras) {
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
    return paths;
  }

  /** Whether the engine is asked where its events are; until it has answered there are none. */
  public boolean asksForEvents() {
    return AUTO.equals(events);
  }

  /** Where the events of one rank are, counted from 0 here; null if it has none. */
  public @Nullable String eventsOf(int rank) {
    return asksForEvents() ? null : endpoint(events, rank);
  }

  /** Where missed events of one rank are, counted from 0 here; null if nowhere. */
  public @Nullable String replayOf(int rank) {
    return endpoint(replay, rank);
  }

  /**
   * One of several endpoints, or the only one with its port plus the rank's number among those of
   * all nodes.
   */
  private @Nullable String endpoint(@Nullable String endpoints, int rank) {
    if (endpoints == null) {
      return null;
    }
    if (isList(endpoints)) {
      String[] each = endpoints.split(" ", -1);
      return rank >= each.length || each[rank].equals(NONE) ? null : each[rank];
    }
    int offset = firstRank + rank;
    int colon = endpoints.lastIndexOf(':');
    if (offset == 0) {
      return endpoints;
    }
    if (!endpoints.matches(WITH_PORT)) {
      return null;
    }
    int port = Integer.parseInt(endpoints.substring(colon + 1)) + offset;
    return port > MAX_PORT ? null : endpoints.substring(0, colon + 1) + port;
  }

  private static boolean isList(@Nullable String endpoints) {
    return endpoints != null && endpoints.indexOf(' ') >= 0;
  }

  /**
   * The same with as many ranks as the engine has.
   *
   * @param first number of the first among those of all nodes
   * @param count at least 1
   */
  public ReplicaConfig withRanks(int first, int count) {
    if (first == firstRank && count == ranks) {
      return this;
    }
    List<@Nullable String> live = new ArrayList<>();
    List<@Nullable String> missed = new ArrayList<>();
    for (int rank = 0; rank < count; rank++) {
      live.add(endpoint(events, isList(events) ? rank : first - firstRank + rank));
      missed.add(endpoint(replay, isList(replay) ? rank : first - firstRank + rank));
    }
    return with(list(first, live), list(first, missed), first, count);
  }

  /**
   * The same with these endpoints, one a rank; null for a rank without.
   *
   * @param first number of the first rank among those of all nodes
   */
  public ReplicaConfig withEndpoints(
      int first, List<@Nullable String> events, List<@Nullable String> replay) {
    return with(list(first, events), list(first, replay), first, events.size());
  }

  /** The same without events. */
  public ReplicaConfig withoutEvents() {
    return with(null, null, firstRank, ranks);
  }

  /** A single endpoint would be that of rank 0 of all nodes. */
  private static @Nullable String list(int first, List<@Nullable String> endpoints) {
    if (endpoints.stream().allMatch(Objects::isNull)) {
      return null;
    }
    String list =
        endpoints.stream()
            .map(endpoint -> endpoint == null ? NONE : endpoint)
            .collect(Collectors.joining(" "));
    return first > 0 && endpoints.size() == 1 ? list + " " + NONE : list;
  }

  /** The port of {@link #url}, that of its scheme when it names none. */
  public int port() {
    return url.getPort() >= 0 ? url.getPort() : isHttps(url) ? 443 : 80;
  }

  /**
   * The same with other hosts in its endpoints; {@link #url} is as it was.
   *
   * @param addresses to connect to, by host in lower case
   */
  public ReplicaConfig connectingTo(Map<String, String> addresses) {
    return addresses.isEmpty()
        ? this
        : with(connectingTo(addresses, events), connectingTo(addresses, replay), firstRank, ranks);
  }

  private ReplicaConfig with(
      @Nullable String events, @Nullable String replay, int firstRank, int ranks) {
    return new ReplicaConfig(
        name,
        url,
        events,
        replay,
        bind && events != null,
        ranks,
        firstRank,
        globalRanks,
        weight,
        dialect,
        removals,
        maxBlocks,
        hashSeed,
        eventFormat,
        loras,
        loadBackTokens,
        models,
        transfer,
        upstream);
  }

  private static @Nullable String connectingTo(
      Map<String, String> addresses, @Nullable String endpoints) {
    return endpoints == null
        ? null
        : Stream.of(endpoints.split(" ", -1))
            .map(endpoint -> connected(addresses, endpoint))
            .collect(Collectors.joining(" "));
  }

  private static String connected(Map<String, String> addresses, String endpoint) {
    int host = endpoint.indexOf("://") + 3;
    int port = endpoint.lastIndexOf(':');
    String address =
        port < host ? null : addresses.get(endpoint.substring(host, port).toLowerCase(Locale.ROOT));
    if (address == null) {
      return endpoint;
    }
    String bracketed = address.indexOf(':') < 0 ? address : "[" + address + "]";
    return endpoint.substring(0, host) + bracketed + endpoint.substring(port);
  }

  private static boolean isHttps(URI url) {
    return "https".equals(url.getScheme());
  }

  private static void checkUrl(URI url) {
    boolean bare = url.getRawQuery() == null && url.getRawUserInfo() == null;
    boolean noPath = url.getRawPath() == null || url.getRawPath().matches("/?");
    boolean known = "http".equals(url.getScheme()) || "https".equals(url.getScheme());
    if (!known || url.getHost() == null || !bare || !noPath) {
      throw new IllegalArgumentException(
          "'url' must be http://host:port or https://host:port without path: '" + url + "'");
    }
  }

  private static void checkEndpoints(
      String key, @Nullable String endpoints, int firstRank, int ranks) {
    if (endpoints == null) {
      return;
    }
    boolean isList = isList(endpoints);
    String[] each = endpoints.split(" ", -1);
    for (String endpoint : each) {
      if (!endpoint.matches(ENDPOINT) && !(isList && endpoint.equals(NONE))) {
        throw new IllegalArgumentException(
            "'" + key + "' must be a ZMQ endpoint such as tcp://host:5557: '" + endpoint + "'");
      }
    }
    if (isList && each.length < ranks) {
      throw new IllegalArgumentException(
          "'%s' must name one endpoint, or one for each of %d ranks: it names %d"
              .formatted(key, ranks, each.length));
    }
    if (!isList && firstRank + ranks > 1) {
      checkPorts(key, endpoints, firstRank + ranks - 1);
    }
  }

  private static void checkPorts(String key, String endpoint, int lastRank) {
    if (!endpoint.matches(WITH_PORT)) {
      throw new IllegalArgumentException("'" + key + "' of several ranks must be tcp://host:port");
    }
    int port = Integer.parseInt(endpoint.substring(endpoint.lastIndexOf(':') + 1));
    if (port + lastRank > MAX_PORT) {
      throw new IllegalArgumentException(
          "'%s': the port of the last rank would be %d".formatted(key, port + lastRank));
    }
  }

  /**
   * What a replica is for, and how its KV cache gets to others.
   *
   * <p>Immutable.
   */
  public record KvTransferConfig(
      @Key(defaultValue = "both") KvTransfer.Role role,
      @Key(defaultValue = "none") KvTransfer.Connector kvConnector,
      @Key(advanced = true) @Nullable String kvGroup,
      @Key(advanced = true) @Nullable String kvHost,
      @Key(defaultValue = "8998", min = 1, max = 65_535, advanced = true) int kvPort,
      @Key(defaultValue = "7400", min = 1, max = 65_535, advanced = true) int kvAllocPort) {

    public KvTransferConfig {
      if (role != KvTransfer.Role.BOTH && kvConnector == KvTransfer.Connector.NONE) {
        throw new IllegalArgumentException("'role' needs a 'kv-connector'");
      }
    }

    /**
     * What routing sees of it.
     *
     * <p>NixlConnector takes what it does not know in a request for its own, so those that have one
     * are told nothing else.
     *
     * @param url of the replica, whose host is the connector's unless it is given
     * @param isVllm whether its engines are vLLM
     */
    public KvTransfer kvTransfer(URI url, boolean isVllm) {
      boolean isOffloading = kvConnector == KvTransfer.Connector.OFFLOADING;
      return new KvTransfer(
          role,
          kvConnector,
          kvGroup == null ? "" : kvGroup,
          kvHost == null ? url.getHost() : kvHost,
          kvPort,
          kvAllocPort,
          isVllm && (isOffloading || kvConnector == KvTransfer.Connector.NONE));
    }
  }
}
