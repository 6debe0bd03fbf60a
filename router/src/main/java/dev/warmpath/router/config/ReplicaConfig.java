package dev.warmpath.router.config;

import dev.warmpath.eventingest.sglang.EventFormat;
import dev.warmpath.eventingest.sglang.SglangNamespaces;
import dev.warmpath.eventingest.sglang.SglangRules;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.router.config.read.AdvancedKey;
import dev.warmpath.router.config.read.Key;
import dev.warmpath.router.config.read.Secret;
import java.net.URI;
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
 */
public record ReplicaConfig(
    @Key("required | | Name in metrics, headers, admin answers.") String name,
    @Key("required | | Engine's base URL, `http://host:port` or `https://host:port`.") URI url,
    @Key(" | | ZMQ endpoint of KV events; none: routed by load.") @Nullable String events,
    @Key(" | | ZMQ endpoint that replays missed events.") @Nullable String replay,
    @AdvancedKey("false | | Bind the events endpoint; the engine connects.") boolean bind,
    @Key("1 | 1 … 1024 | Data-parallel ranks behind `url`; rank r uses both ports plus r.")
        int ranks,
    @AdvancedKey(
            "0 | 0 … 64511 | First data-parallel rank behind `url`: vLLM's"
                + " `--data-parallel-start-rank`.")
        int firstRank,
    @AdvancedKey(
            "1.0 | 0.01 … 100.0 | Relative capacity; only `least-requests` and `power-of-two` use"
                + " it.")
        double weight,
    @Key(
            "vllm | | Kind of engine. `vllm-eagle`: vLLM to 0.32 with EAGLE or MTP; `…-hybrid`:"
                + " sliding windows or state layers.")
        Dialect dialect,
    @AdvancedKey(
            " | | A removal of a block announced several times removes one copy (`per-copy`), or"
                + " all (`presence`); none: by dialect.")
        @Nullable CopyCounting removals,
    @AdvancedKey(
            "0 | 0 … 1000000000 | Max blocks of one rank, all tiers and groups; 0: its GPU's, by"
                + " `/metrics`.")
        int maxBlocks,
    @Secret
        @AdvancedKey(
            " | | Engine's `PYTHONHASHSEED`, to recognise its hashes; none: the usual ones.")
        @Nullable String hashSeed,
    @AdvancedKey(
            "default | | SGLang: `format` of the engine's `--kv-events-config`; `dynamo` set"
                + " wrongly overcounts.")
        EventFormat eventFormat,
    @AdvancedKey(" | | SGLang: its `--lora-paths`, each NAME=PATH; without adapters loaded later.")
        List<String> loras,
    @AdvancedKey(
            SglangRules.LOAD_BACK_TOKENS
                + " | 0 … 1000000 | SGLang: its `load_back_threshold`; shorter host hits stay"
                + " there.")
        int loadBackTokens,
    @Key(" | | Models it serves until its `/v1/models` answers; empty: all.") List<String> models,
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

    /** Whether it follows SGLang's rules. */
    public boolean isSglang() {
      return this == SGLANG || this == SGLANG_HYBRID;
    }

    /** Whether what it announces is only an upper bound of what it may reuse. */
    public boolean isUpperBound() {
      return this == SGLANG_HYBRID || this == TRTLLM_HYBRID;
    }
  }

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
    checkEndpoint("events", events, firstRank + ranks);
    checkEndpoint("replay", replay, firstRank + ranks);
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

  /** An endpoint of rank {@code rank} of all nodes: its port is that of rank 0 plus the rank. */
  public static String ofRank(String endpoint, int rank) {
    int colon = endpoint.lastIndexOf(':');
    if (rank == 0) {
      return endpoint;
    }
    return endpoint.substring(0, colon + 1)
        + (Integer.parseInt(endpoint.substring(colon + 1)) + rank);
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
        : new ReplicaConfig(
            name,
            url,
            connectingTo(addresses, events),
            connectingTo(addresses, replay),
            bind,
            ranks,
            firstRank,
            weight,
            dialect,
            removals,
            maxBlocks,
            hashSeed,
            eventFormat,
            loras,
            loadBackTokens,
            models,
            upstream);
  }

  private static @Nullable String connectingTo(
      Map<String, String> addresses, @Nullable String endpoint) {
    if (endpoint == null) {
      return null;
    }
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
