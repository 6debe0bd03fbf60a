package dev.warmpath.router.config;

import dev.warmpath.eventingest.follow.BackoffLimits;
import dev.warmpath.eventingest.follow.IngestOptions;
import dev.warmpath.eventingest.follow.RingLimits;
import dev.warmpath.eventingest.stream.StreamLimits;
import dev.warmpath.eventingest.transport.Descriptors;
import dev.warmpath.eventingest.transport.ReplayLimits;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The configuration of a router process. Each component of a section is a key, with its default and
 * its bounds; {@code docs/configuration.md} says what each means.
 *
 * <p>Immutable.
 */
public record RouterConfig(
    Listen listen,
    Picker picker,
    Admin admin,
    Auth auth,
    @Key(advanced = true) Files files,
    @Key(reloadable = true) PolicyConfig policy,
    @Key(reloadable = true) List<ModelConfig> models,
    @Key(reloadable = true) List<ReplicaConfig> replicas,
    List<DiscoveryConfig> discovery,
    @Key(reloadable = true) List<StoreConfig> stores,
    Fleet fleet,
    UpstreamConfig upstream,
    @Key(advanced = true, reloadable = true) Health health,
    @Key(reloadable = true) Timeouts timeouts,
    Limits limits,
    @Key(reloadable = true) Queue queue,
    @Key(reloadable = true) Retry retry,
    @Key(advanced = true) Tokenizing tokenizing,
    @Key(advanced = true) Parity parity,
    Index index,
    @Key(advanced = true) Ingest ingest,
    Snapshot snapshot,
    @Key(advanced = true) Capture capture,
    LogFile decisionLog,
    LogFile accessLog,
    Log log,
    Tracing tracing,
    ClusterConfig cluster,
    @Key(reloadable = true) Headers headers,
    @Key(advanced = true) WarmUp warmUp,
    @Key(reloadable = true) Shutdown shutdown,
    Reload reload) {

  private static final int HEALTH_CONNECTIONS = 2;

  public RouterConfig {
    models = List.copyOf(models);
    replicas = List.copyOf(replicas);
    discovery = List.copyOf(discovery);
    stores = List.copyOf(stores);
    distinct(
        "models",
        models.stream()
            .flatMap(model -> Stream.concat(Stream.of(model.name()), model.aliases().stream()))
            .toList());
    distinct("replicas", replicas.stream().map(ReplicaConfig::name).toList());
    distinct("stores", stores.stream().map(StoreConfig::name).toList());
    distinct("discovery", discovery.stream().map(DiscoveryConfig::name).toList());
    for (ReplicaConfig replica : replicas) {
      if (leadsHere(listen, admin, replica)) {
        throw new IllegalArgumentException(
            "'replicas': the url of '%s' is the router's own address: %s"
                .formatted(replica.name(), replica.url()));
      }
    }
  }

  /** Whether requests to the replica would come back to this router, and circle. */
  public boolean leadsHere(ReplicaConfig replica) {
    return leadsHere(listen, admin, replica);
  }

  private static boolean leadsHere(Listen listen, Admin admin, ReplicaConfig replica) {
    String host = replica.url().getHost();
    return new OwnAddress(listen.host(), listen.port()).isAt(host, replica.port())
        || new OwnAddress(admin.host(), admin.port()).isAt(host, replica.port());
  }

  /** The model of all replicas that name none; empty unless it is the only one. */
  public String onlyModel() {
    return models.size() == 1 ? models.get(0).name() : "";
  }

  /** Files and sockets that are open all the time to follow these replicas. */
  public static long openFiles(Collection<ReplicaConfig> replicas) {
    int streams =
        replicas.stream()
            .filter(replica -> replica.events() != null)
            .mapToInt(ReplicaConfig::ranks)
            .sum();
    return Descriptors.needed(streams) + (long) HEALTH_CONNECTIONS * replicas.size();
  }

  static void distinct(String key, List<String> names) {
    Set<String> seen = new HashSet<>();
    for (String name : names) {
      if (!seen.add(name)) {
        throw new IllegalArgumentException("'" + key + "': name '" + name + "' is given twice");
      }
    }
  }

  private static void atMost(String section, String less, long first, String more, long second) {
    if (first > second) {
      throw new IllegalArgumentException(
          "'" + section + "." + more + "' must be at least '" + section + "." + less + "'");
    }
  }

  /** Where clients connect. */
  public record Listen(
      @Key(standard = "127.0.0.1") String host,
      @Key(standard = "8080", max = 65_535) int port,
      @Key(standard = "0", max = 256, advanced = true) int eventLoops,
      @Key(standard = "false", reloadable = true) boolean metrics,
      @Key(standard = "false") boolean http2,
      @Key(advanced = true) List<String> paths,
      @Key(advanced = true, reloadable = true) List<String> cors,
      ListenTls tls) {

    private static final Pattern ORIGIN =
        Pattern.compile("\\*|https?://(?:[A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.]+])(?::[0-9]{1,5})?");

    public Listen {
      paths = List.copyOf(paths);
      paths.forEach(PassedPath::of);
      cors = List.copyOf(cors);
      for (String origin : cors) {
        if (!ORIGIN.matcher(origin).matches()) {
          throw new IllegalArgumentException(
              "'listen.cors': '" + origin + "' is no origin, such as https://app.example, nor *");
        }
      }
    }

    /** The further paths. */
    public List<PassedPath> passedPaths() {
      return paths.stream().map(PassedPath::of).toList();
    }
  }

  /** Where gateways ask for endpoints. */
  public record Picker(
      @Key(standard = "0", max = 65_535) int port,
      @Key @Nullable String host,
      @Key(standard = "1", min = 1, max = 16) int endpoints,
      @Key(standard = "false") boolean routingSidecar,
      @Key(standard = "false") boolean selfSigned,
      @Key(standard = "false", advanced = true) boolean conformance,
      ListenTls tls) {

    public Picker {
      if (selfSigned && tls.tlsCert() != null) {
        throw new IllegalArgumentException(
            "'picker.self-signed' and 'picker.tls-cert' are two ways");
      }
    }
  }

  /** Where operators connect. */
  public record Admin(
      @Key(standard = "127.0.0.1") String host,
      @Key(standard = "8081", max = 65_535) int port,
      @Key @Nullable String keyFile,
      @Key(standard = "false") boolean openMetrics,
      @Key(advanced = true) @Nullable String poolMetrics,
      @Key(standard = "1000", max = 100_000) int decisionsKept,
      @Key(standard = "0", max = 4096, advanced = true) int decisionsMb,
      @Key(standard = "false") boolean showPrompts,
      ListenTls tls) {}

  /** The certificate of one of the router's ports. */
  public record ListenTls(
      @Key @Nullable String tlsCert,
      @Key @Nullable String tlsKey,
      @Key @Nullable String tlsClientCa) {

    public ListenTls {
      if ((tlsCert == null) != (tlsKey == null)) {
        throw new IllegalArgumentException("'tls-cert' and 'tls-key' need each other");
      }
      if (tlsClientCa != null && tlsCert == null) {
        throw new IllegalArgumentException("'tls-client-ca' needs 'tls-cert'");
      }
    }

    /** The files that it names. */
    public List<Path> files() {
      return Stream.of(tlsCert, tlsKey, tlsClientCa)
          .filter(file -> file != null)
          .map(Path::of)
          .toList();
    }
  }

  /** Who may use the router. */
  public record Auth(@Key @Nullable String keysFile) {}

  /** How replicas come and go. */
  public record Fleet(
      @Key(standard = "600000", max = 86_400_000, advanced = true, reloadable = true) int drainMs,
      @Key(standard = "10000", max = 60_000, reloadable = true) int prewarmMs,
      @Key List<String> allowedHosts) {

    public Fleet {
      allowedHosts = List.copyOf(allowedHosts);
      allowedHosts.forEach(Fleet::pattern);
    }

    /** The allowed hosts as patterns. */
    public List<HostPattern> hostPatterns() {
      return allowedHosts.stream().map(Fleet::pattern).toList();
    }

    private static HostPattern pattern(String host) {
      try {
        return HostPattern.of(host);
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException("'fleet.allowed-hosts': " + e.getMessage(), e);
      }
    }
  }

  /** When a replica counts as up, and as full. */
  public record Health(
      @Key(standard = "2000", min = 10, max = 86_400_000) int intervalMs,
      @Key(standard = "1000", min = 1, max = 86_400_000) int timeoutMs,
      @Key(standard = "1", min = 1, max = 100) int rise,
      @Key(standard = "3", min = 1, max = 100) int fall,
      @Key(standard = "5000", max = 86_400_000) int metricsIntervalMs,
      @Key(standard = "true") boolean otherLoad) {}

  /** How long each part of a request may take. */
  public record Timeouts(
      @Key(standard = "1000", min = 1, max = 86_400_000, advanced = true) int connectMs,
      @Key(standard = "10000", min = 1, max = 86_400_000, advanced = true) int requestHeadMs,
      @Key(standard = "75000", min = 1, max = 86_400_000, advanced = true) int keepAliveMs,
      @Key(standard = "30000", min = 1, max = 86_400_000, advanced = true) int requestBodyMs,
      @Key(standard = "300000", min = 1, max = 86_400_000) int firstByteMs,
      @Key(standard = "120000", min = 1, max = 86_400_000, advanced = true) int streamIdleMs,
      @Key(standard = "3600000", min = 1, max = 86_400_000) int totalMs,
      @Key(standard = "0", max = 86_400_000) int sseKeepAliveMs) {}

  /** How large things may get. */
  public record Limits(
      @Key(standard = "67108864", min = 1, max = 1_073_741_824, advanced = true, reloadable = true)
          int bodyBytes,
      @Key(standard = "16384", min = 256, max = 1_048_576, advanced = true) int headerBytes,
      @Key(standard = "128", min = 8, max = 1000, advanced = true) int jsonDepth,
      @Key(standard = "262144", min = 1024, max = 1_073_741_824, advanced = true, reloadable = true)
          int clientBufferBytes,
      @Key(standard = "16384", min = 1, max = 1_000_000, advanced = true, reloadable = true)
          int connections,
      @Key(standard = "256", min = 1, max = 1_000_000, advanced = true) int connectionStreams,
      @Key(standard = "8192", min = 1, max = 1_000_000, reloadable = true) int requests,
      @Key(standard = "65536", max = 10_000_000, advanced = true) int storedResponses,
      @Key(standard = "0", max = 1_000_000, advanced = true, reloadable = true) int bodiesMb,
      @Key(standard = "4096", min = 1, max = 65_536, reloadable = true) int replicaRequests,
      @Key(standard = "0", max = 1_000_000, reloadable = true) int engineWaiting) {}

  /** What happens to a request when all replicas that could take it are full. */
  public record Queue(
      @Key(standard = "1000", max = 1_000_000) int requests,
      @Key(standard = "30000", min = 1, max = 86_400_000) int timeoutMs,
      @Key(standard = "false", reloadable = true) boolean evict,
      @Key(advanced = true) @Nullable String priorityHeader,
      @Key(standard = "authorization", advanced = true) @Nullable String clientHeader) {}

  /** What happens to a request that a replica did not begin to answer. */
  public record Retry(
      @Key(standard = "3", min = 1, max = 16) int attempts,
      @Key(standard = "10", max = 60_000, advanced = true) int backoffMs,
      @Key(standard = "500", max = 60_000, advanced = true) int backoffLimitMs,
      @Key(standard = "20", max = 1000, advanced = true) int budgetPercent) {
    public Retry {
      atMost("retry", "backoff-ms", backoffMs, "backoff-limit-ms", backoffLimitMs);
    }
  }

  /** The threads that turn prompts into tokens. */
  public record Tokenizing(
      @Key(standard = "0", max = 256) int threads,
      @Key(standard = "256", min = 1, max = 65_536) int queue,
      @Key(standard = "500", min = 1, max = 60_000) int deadlineMs,
      @Key(standard = "4194304", min = 1024, max = 1_073_741_824) int bodyBytes,
      @Key(standard = "true") boolean waitForModels,
      @Key(
              standard = "when-needed",
              choices = {"never", "when-needed"})
          String remote,
      @Key(standard = "0", max = 1_000_000) int cacheMb) {

    /** Whether engines render what cannot be rendered here. */
    public boolean asksEngines() {
      return !remote.equals("never");
    }
  }

  /** How our tokens are compared with the engines'. */
  public record Parity(
      @Key(standard = "true") boolean enabled,
      @Key(standard = "60000", max = 86_400_000) int sampleIntervalMs,
      @Key(standard = "5000", min = 1, max = 60_000) int timeoutMs) {}

  /** Bounds of what is remembered about blocks. */
  public record Index(
      @Key(standard = "30000", min = 100, max = 86_400_000, advanced = true) int expectedTtlMs,
      @Key(standard = "2000", max = 86_400_000, advanced = true) int expectedSettleMs,
      @Key(standard = "65536", min = 1, max = 100_000_000, advanced = true) int expectedBlocks,
      @Key(standard = "65536", max = 100_000_000, advanced = true) int orphanBlocks,
      @Key(standard = "0", max = 1_000_000) int memoryMb) {
    public Index {
      atMost("index", "expected-settle-ms", expectedSettleMs, "expected-ttl-ms", expectedTtlMs);
    }
  }

  /** Bounds of the engines' event streams. */
  public record Ingest(
      @Key(standard = "0", max = 64) int pollers,
      @Key(standard = "4096", min = 2, max = 1_000_000) int ringMessages,
      @Key(standard = "16777216", min = 1_048_576, max = 1_073_741_824) int ringBytes,
      @Key(standard = "0", max = 1_000_000) int ringTotalMb,
      @Key(standard = "0", max = 1_073_741_824) int bufferedBytes,
      @Key(standard = "2000", min = 10, max = 86_400_000) int replayIdleMs,
      @Key(standard = "60000", min = 100, max = 86_400_000) int replayTotalMs) {
    /** The same as event streams take it, with what the budget leaves them of the heap. */
    public IngestOptions options(MemoryBudget budget) {
      return new IngestOptions(
          pollers == 0 ? IngestOptions.DEFAULT.pollers() : pollers,
          new RingLimits(ringMessages, Math.min(ringBytes, budget.ringBytes()), budget.ringBytes()),
          ReplayLimits.DEFAULT.with(
              Duration.ofMillis(replayIdleMs), Duration.ofMillis(replayTotalMs)),
          BackoffLimits.DEFAULT,
          StreamLimits.DEFAULT.with(budget.bufferedBytes()));
    }
  }

  /** What is kept on disk for the next start. */
  public record Snapshot(
      @Key(standard = "true") boolean enabled,
      @Key @Nullable String dir,
      @Key(standard = "300000", min = 100, max = 86_400_000, advanced = true) int intervalMs,
      @Key(standard = "2000", min = 1, max = 60_000, advanced = true) int maxPauseMs,
      @Key(standard = "4096", min = 1, max = 1_000_000, advanced = true) int maxMb,
      @Key(standard = "3600000", min = 1, max = 86_400_000, advanced = true) int maxAgeMs) {}

  /** What is recorded of the fleet. */
  public record Capture(
      @Key @Nullable String dir,
      @Key(standard = "false") boolean requests,
      @Key(standard = "2000", min = 10, max = 86_400_000) int quietMs,
      @Key(standard = "256", min = 1, max = 1_000_000) int maxMb,
      @Key(standard = "10", min = 1, max = 100_000) int keep,
      @Key(standard = "64", min = 1, max = 4096) int queueMb) {}

  /** A log of requests. */
  public record LogFile(
      @Key @Nullable String file,
      @Key(standard = "64", min = 1, max = 1_000_000, advanced = true) int maxMb,
      @Key(standard = "8", min = 1, max = 1000, advanced = true) int keep,
      @Key(standard = "16", min = 1, max = 4096, advanced = true) int queueMb) {}

  /** The process' own log. */
  public record Log(
      @Key(
              standard = "text",
              choices = {"text", "json"})
          String format) {}

  /** Where traces go. */
  public record Tracing(
      @Key @Nullable URI endpoint,
      @Key(standard = "0.01", max = 1.0) double sampleRatio,
      @Key(standard = "warmpath", advanced = true) String serviceName,
      @Key(advanced = true) @Nullable String headersFile,
      @Key(standard = "2048", min = 512, max = 1_000_000, advanced = true) int queue,
      @Key(standard = "10000", min = 1, max = 600_000, advanced = true) int timeoutMs) {

    public Tracing {
      if (endpoint != null
          && (!("http".equals(endpoint.getScheme()) || "https".equals(endpoint.getScheme()))
              || endpoint.getHost() == null)) {
        throw new IllegalArgumentException("'tracing.endpoint' must be http(s)://host:port");
      }
    }
  }

  /** How files that change are followed. */
  public record Files(@Key(standard = "2000", min = 10, max = 86_400_000) int pollMs) {}

  /** What the router adds to responses, and takes from requests. */
  public record Headers(
      @Key(
              standard = "auto",
              choices = {"auto", "always", "never"})
          String passCredentials,
      @Key(
              standard = "auto",
              choices = {"auto", "always", "never"},
              advanced = true)
          String passTransferParams,
      @Key(standard = "true", advanced = true) boolean replica,
      @Key(standard = "false", advanced = true) boolean cachedTokens) {}

  /** What is done before the process listens. */
  public record WarmUp(
      @Key(standard = "3", max = 600) int seconds,
      @Key(standard = "20000", min = 1, max = 10_000_000) int requests) {}

  /** How long leaving may take. */
  public record Shutdown(
      @Key(standard = "0", max = 86_400_000) int delayMs,
      @Key(standard = "30000", max = 86_400_000) int deadlineMs) {}

  /** When the configuration is read anew. */
  public record Reload(@Key(standard = "false", reloadable = true) boolean watch) {}
}
