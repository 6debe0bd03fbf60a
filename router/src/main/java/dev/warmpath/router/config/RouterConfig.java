package dev.warmpath.router.config;

import dev.warmpath.eventingest.follow.IngestOptions;
import dev.warmpath.eventingest.follow.IngestOptions.BackoffLimits;
import dev.warmpath.eventingest.follow.IngestOptions.RingLimits;
import dev.warmpath.eventingest.stream.StreamLimits;
import dev.warmpath.eventingest.transport.Descriptors;
import dev.warmpath.eventingest.transport.ReplayLimits;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.URI;
import java.net.UnknownHostException;
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
      @Key(defaultValue = "127.0.0.1") String host,
      @Key(defaultValue = "8080", max = 65_535) int port,
      @Key(defaultValue = "0", max = 256, advanced = true) int eventLoops,
      @Key(defaultValue = "false", reloadable = true) boolean metrics,
      @Key(defaultValue = "false") boolean http2,
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
      @Key(defaultValue = "0", max = 65_535) int port,
      @Key @Nullable String host,
      @Key(defaultValue = "1", min = 1, max = 16) int endpoints,
      @Key(defaultValue = "false") boolean routingSidecar,
      @Key(defaultValue = "false") boolean selfSigned,
      @Key(defaultValue = "false", advanced = true) boolean conformance,
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
      @Key(defaultValue = "127.0.0.1") String host,
      @Key(defaultValue = "8081", max = 65_535) int port,
      @Key @Nullable String keyFile,
      @Key(defaultValue = "false") boolean openMetrics,
      @Key(advanced = true) @Nullable String poolMetrics,
      @Key(defaultValue = "1000", max = 100_000) int decisionsKept,
      @Key(defaultValue = "0", max = 4096, advanced = true) int decisionsMb,
      @Key(defaultValue = "false") boolean showPrompts,
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
      @Key(defaultValue = "600000", max = 86_400_000, advanced = true, reloadable = true)
          int drainMs,
      @Key(defaultValue = "10000", max = 60_000, reloadable = true) int prewarmMs,
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
      @Key(defaultValue = "2000", min = 10, max = 86_400_000) int intervalMs,
      @Key(defaultValue = "1000", min = 1, max = 86_400_000) int timeoutMs,
      @Key(defaultValue = "1", min = 1, max = 100) int rise,
      @Key(defaultValue = "3", min = 1, max = 100) int fall,
      @Key(defaultValue = "5000", max = 86_400_000) int metricsIntervalMs,
      @Key(defaultValue = "true") boolean otherLoad) {}

  /** How long each part of a request may take. */
  public record Timeouts(
      @Key(defaultValue = "1000", min = 1, max = 86_400_000, advanced = true) int connectMs,
      @Key(defaultValue = "10000", min = 1, max = 86_400_000, advanced = true) int requestHeadMs,
      @Key(defaultValue = "75000", min = 1, max = 86_400_000, advanced = true) int keepAliveMs,
      @Key(defaultValue = "30000", min = 1, max = 86_400_000, advanced = true) int requestBodyMs,
      @Key(defaultValue = "300000", min = 1, max = 86_400_000) int firstByteMs,
      @Key(defaultValue = "120000", min = 1, max = 86_400_000, advanced = true) int streamIdleMs,
      @Key(defaultValue = "3600000", min = 1, max = 86_400_000) int totalMs,
      @Key(defaultValue = "0", max = 86_400_000) int sseKeepAliveMs) {}

  /** How large things may get. */
  public record Limits(
      @Key(
              defaultValue = "67108864",
              min = 1,
              max = 1_073_741_824,
              advanced = true,
              reloadable = true)
          int bodyBytes,
      @Key(defaultValue = "16384", min = 256, max = 1_048_576, advanced = true) int headerBytes,
      @Key(defaultValue = "128", min = 8, max = 1000, advanced = true) int jsonDepth,
      @Key(
              defaultValue = "262144",
              min = 1024,
              max = 1_073_741_824,
              advanced = true,
              reloadable = true)
          int clientBufferBytes,
      @Key(defaultValue = "16384", min = 1, max = 1_000_000, advanced = true, reloadable = true)
          int connections,
      @Key(defaultValue = "256", min = 1, max = 1_000_000, advanced = true) int connectionStreams,
      @Key(defaultValue = "8192", min = 1, max = 1_000_000, reloadable = true) int requests,
      @Key(defaultValue = "65536", max = 10_000_000, advanced = true) int storedResponses,
      @Key(defaultValue = "0", max = 1_000_000, advanced = true, reloadable = true) int bodiesMb,
      @Key(defaultValue = "4096", min = 1, max = 65_536, reloadable = true) int replicaRequests,
      @Key(defaultValue = "0", max = 1_000_000, reloadable = true) int engineWaiting) {}

  /** What happens to a request when all replicas that could take it are full. */
  public record Queue(
      @Key(defaultValue = "1000", max = 1_000_000) int requests,
      @Key(defaultValue = "30000", min = 1, max = 86_400_000) int timeoutMs,
      @Key(defaultValue = "false", reloadable = true) boolean evict,
      @Key(advanced = true) @Nullable String priorityHeader,
      @Key(defaultValue = "authorization", advanced = true) @Nullable String clientHeader) {}

  /** What happens to a request that a replica did not begin to answer. */
  public record Retry(
      @Key(defaultValue = "3", min = 1, max = 16) int attempts,
      @Key(defaultValue = "10", max = 60_000, advanced = true) int backoffMs,
      @Key(defaultValue = "500", max = 60_000, advanced = true) int backoffLimitMs,
      @Key(defaultValue = "20", max = 1000, advanced = true) int budgetPercent) {
    public Retry {
      atMost("retry", "backoff-ms", backoffMs, "backoff-limit-ms", backoffLimitMs);
    }
  }

  /** The threads that turn prompts into tokens. */
  public record Tokenizing(
      @Key(defaultValue = "0", max = 256) int threads,
      @Key(defaultValue = "256", min = 1, max = 65_536) int queue,
      @Key(defaultValue = "500", min = 1, max = 60_000) int deadlineMs,
      @Key(defaultValue = "4194304", min = 1024, max = 1_073_741_824) int bodyBytes,
      @Key(defaultValue = "true") boolean waitForModels,
      @Key(
              defaultValue = "when-needed",
              choices = {"never", "when-needed"})
          String remote,
      @Key(defaultValue = "0", max = 1_000_000) int cacheMb) {

    /** Whether engines render what cannot be rendered here. */
    public boolean asksEngines() {
      return !remote.equals("never");
    }
  }

  /** How our tokens are compared with the engines'. */
  public record Parity(
      @Key(defaultValue = "true") boolean enabled,
      @Key(defaultValue = "60000", max = 86_400_000) int sampleIntervalMs,
      @Key(defaultValue = "5000", min = 1, max = 60_000) int timeoutMs) {}

  /** Bounds of what is remembered about blocks. */
  public record Index(
      @Key(defaultValue = "30000", min = 100, max = 86_400_000, advanced = true) int expectedTtlMs,
      @Key(defaultValue = "2000", max = 86_400_000, advanced = true) int expectedSettleMs,
      @Key(defaultValue = "65536", min = 1, max = 100_000_000, advanced = true) int expectedBlocks,
      @Key(defaultValue = "65536", max = 100_000_000, advanced = true) int orphanBlocks,
      @Key(defaultValue = "0", max = 1_000_000) int memoryMb) {
    public Index {
      atMost("index", "expected-settle-ms", expectedSettleMs, "expected-ttl-ms", expectedTtlMs);
    }
  }

  /** Bounds of the engines' event streams. */
  public record Ingest(
      @Key(defaultValue = "0", max = 64) int pollers,
      @Key(defaultValue = "4096", min = 2, max = 1_000_000) int ringMessages,
      @Key(defaultValue = "16777216", min = 1_048_576, max = 1_073_741_824) int ringBytes,
      @Key(defaultValue = "0", max = 1_000_000) int ringTotalMb,
      @Key(defaultValue = "0", max = 1_073_741_824) int bufferedBytes,
      @Key(defaultValue = "2000", min = 10, max = 86_400_000) int replayIdleMs,
      @Key(defaultValue = "60000", min = 100, max = 86_400_000) int replayTotalMs) {
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
      @Key(defaultValue = "true") boolean enabled,
      @Key @Nullable String dir,
      @Key(defaultValue = "300000", min = 100, max = 86_400_000, advanced = true) int intervalMs,
      @Key(defaultValue = "2000", min = 1, max = 60_000, advanced = true) int maxPauseMs,
      @Key(defaultValue = "4096", min = 1, max = 1_000_000, advanced = true) int maxMb,
      @Key(defaultValue = "3600000", min = 1, max = 86_400_000, advanced = true) int maxAgeMs) {}

  /** What is recorded of the fleet. */
  public record Capture(
      @Key @Nullable String dir,
      @Key(defaultValue = "false") boolean requests,
      @Key(defaultValue = "2000", min = 10, max = 86_400_000) int quietMs,
      @Key(defaultValue = "256", min = 1, max = 1_000_000) int maxMb,
      @Key(defaultValue = "10", min = 1, max = 100_000) int keep,
      @Key(defaultValue = "64", min = 1, max = 4096) int queueMb) {}

  /** A log of requests. */
  public record LogFile(
      @Key @Nullable String file,
      @Key(defaultValue = "64", min = 1, max = 1_000_000, advanced = true) int maxMb,
      @Key(defaultValue = "8", min = 1, max = 1000, advanced = true) int keep,
      @Key(defaultValue = "16", min = 1, max = 4096, advanced = true) int queueMb) {}

  /** The process' own log. */
  public record Log(
      @Key(
              defaultValue = "text",
              choices = {"text", "json"})
          String format) {}

  /** Where traces go. */
  public record Tracing(
      @Key @Nullable URI endpoint,
      @Key(defaultValue = "0.01", max = 1.0) double sampleRatio,
      @Key(defaultValue = "warmpath", advanced = true) String serviceName,
      @Key(advanced = true) @Nullable String headersFile,
      @Key(defaultValue = "2048", min = 512, max = 1_000_000, advanced = true) int queue,
      @Key(defaultValue = "10000", min = 1, max = 600_000, advanced = true) int timeoutMs) {

    public Tracing {
      if (endpoint != null
          && (!("http".equals(endpoint.getScheme()) || "https".equals(endpoint.getScheme()))
              || endpoint.getHost() == null)) {
        throw new IllegalArgumentException("'tracing.endpoint' must be http(s)://host:port");
      }
    }
  }

  /** How files that change are followed. */
  public record Files(@Key(defaultValue = "2000", min = 10, max = 86_400_000) int pollMs) {}

  /** What the router adds to responses, and takes from requests. */
  public record Headers(
      @Key(
              defaultValue = "auto",
              choices = {"auto", "always", "never"})
          String passCredentials,
      @Key(
              defaultValue = "auto",
              choices = {"auto", "always", "never"},
              advanced = true)
          String passTransferParams,
      @Key(defaultValue = "true", advanced = true) boolean replica,
      @Key(defaultValue = "false", advanced = true) boolean cachedTokens) {}

  /** What is done before the process listens. */
  public record WarmUp(
      @Key(defaultValue = "3", max = 600) int seconds,
      @Key(defaultValue = "20000", min = 1, max = 10_000_000) int requests) {}

  /** How long leaving may take. */
  public record Shutdown(
      @Key(defaultValue = "0", max = 86_400_000) int delayMs,
      @Key(defaultValue = "30000", max = 86_400_000) int deadlineMs) {}

  /** When the configuration is read anew. */
  public record Reload(@Key(defaultValue = "false", reloadable = true) boolean watch) {}

  /**
   * An address that this process listens at. No name is looked up but {@code localhost}: one of the
   * machine's other names is not recognised.
   *
   * <p>Immutable.
   *
   * @param host as it is configured, a wildcard too
   * @param port 0 for one that is not known, which nothing leads to
   */
  private record OwnAddress(String host, int port) {

    /** Whether a connection to this host and port would arrive here. */
    boolean isAt(String otherHost, int otherPort) {
      if (port == 0 || port != otherPort) {
        return false;
      }
      InetAddress own = address(host);
      InetAddress other = address(otherHost);
      if (own == null || other == null) {
        return host.equalsIgnoreCase(otherHost);
      }
      boolean same = own.equals(other) || (own.isLoopbackAddress() && isLocalhost(otherHost));
      return own.isAnyLocalAddress() ? isOfThisMachine(other) : same;
    }

    private static boolean isLocalhost(String host) {
      return host.equalsIgnoreCase("localhost");
    }

    private static @Nullable InetAddress address(String host) {
      String bare = host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
      try {
        if (isLocalhost(bare)) {
          return InetAddress.getLoopbackAddress();
        }
        return HostPattern.isAddress(bare) ? InetAddress.getByName(bare) : null;
      } catch (UnknownHostException e) {
        return null;
      }
    }

    private static boolean isOfThisMachine(InetAddress address) {
      try {
        return address.isLoopbackAddress()
            || address.isAnyLocalAddress()
            || NetworkInterface.getByInetAddress(address) != null;
      } catch (SocketException e) {
        return false;
      }
    }
  }
}
