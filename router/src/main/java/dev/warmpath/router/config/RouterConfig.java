package dev.warmpath.router.config;

import dev.warmpath.eventingest.follow.BackoffLimits;
import dev.warmpath.eventingest.follow.IngestOptions;
import dev.warmpath.eventingest.ring.RingLimits;
import dev.warmpath.eventingest.session.StreamLimits;
import dev.warmpath.eventingest.transport.ReplayLimits;
import dev.warmpath.router.config.read.AdvancedKey;
import dev.warmpath.router.config.read.Key;
import dev.warmpath.router.config.read.Reloadable;
import dev.warmpath.router.host.HostPattern;
import java.net.URI;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The configuration of a router process. Each component of a section is a key; its annotation has
 * the default, the bounds and the meaning, here and nowhere else.
 *
 * <p>Immutable.
 */
public record RouterConfig(
    Listen listen,
    Admin admin,
    AuthConfig auth,
    @Reloadable PolicyConfig policy,
    @Reloadable List<ModelConfig> models,
    @Reloadable List<ReplicaConfig> replicas,
    List<DiscoveryConfig> discovery,
    Fleet fleet,
    UpstreamConfig upstream,
    @Reloadable Health health,
    @Reloadable Timeouts timeouts,
    Limits limits,
    @Reloadable Queue queue,
    @Reloadable Retry retry,
    Tokenizing tokenizing,
    Parity parity,
    Index index,
    Ingest ingest,
    Snapshot snapshot,
    Capture capture,
    DecisionLog decisionLog,
    AccessLog accessLog,
    Log log,
    Tracing tracing,
    @Reloadable Headers headers,
    WarmUp warmUp,
    @Reloadable Shutdown shutdown,
    Reload reload) {

  private static final long BYTES_PER_MB = 1 << 20;

  public RouterConfig {
    models = List.copyOf(models);
    replicas = List.copyOf(replicas);
    discovery = List.copyOf(discovery);
    distinct(
        "models",
        models.stream()
            .flatMap(model -> Stream.concat(Stream.of(model.name()), model.aliases().stream()))
            .toList());
    distinct("replicas", replicas.stream().map(ReplicaConfig::name).toList());
    distinct("discovery", discovery.stream().map(DiscoveryConfig::name).toList());
  }

  /** The model that a request without a model means: the only one, if there is one only. */
  public Optional<ModelConfig> onlyModel() {
    return models.size() == 1 ? Optional.of(models.get(0)) : Optional.empty();
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
      @Key("127.0.0.1 | | Address that clients connect to.") String host,
      @Key("8080 | 0 … 65535 | Port that clients connect to; 0 takes any.") int port,
      @AdvancedKey(
              "0 | 0 … 256 | Event loops; 0: one for two cores, as tokenizer threads need the others.")
          int eventLoops,
      @Reloadable @Key("false | | Serve `/metrics` on the clients' port too.") boolean metrics,
      @Key("false | | HTTP/2 too: in clear text by prior knowledge or upgrade, and over TLS.")
          boolean http2,
      @AdvancedKey(
              " | | Further paths that are passed on, to a replica chosen by load: each `/PATH` for POST, or `METHOD /PATH`.")
          List<String> paths,
      ListenTls tls) {

    public Listen {
      paths = List.copyOf(paths);
      paths.forEach(PassedPath::of);
    }

    /** The further paths. */
    public List<PassedPath> passedPaths() {
      return paths.stream().map(PassedPath::of).toList();
    }
  }

  /** Where operators connect. */
  public record Admin(
      @Key(
              "127.0.0.1 | | Address of the admin endpoints; keep it private: they show what the fleet holds.")
          String host,
      @Key("8081 | 0 … 65535 | Port of the admin endpoints; 0 takes any.") int port,
      @Key(
              " | | File with the keys that admin requests need, in clear, one a line, sent as `Authorization: Bearer`; read again when it changes. None: no key.")
          @Nullable String keyFile,
      @Key("false | | Serve `/metrics` on the admin port without the key.") boolean openMetrics,
      @Key(
              "1000 | 0 … 100000 | Decisions that the admin port shows and explains; the oldest give way. 0: none.")
          int decisionsKept,
      @AdvancedKey(
              "32 | 1 … 4096 | Max MiB of the decisions that the admin port shows, with the hashes of their blocks.")
          int decisionsMb,
      @Key(
              "false | | Keep token ids of these decisions, and show prompts as text on the admin port ([security](security.md#prompts-on-the-admin-port)).")
          boolean showPrompts,
      ListenTls tls) {}

  /** How replicas come and go. */
  public record Fleet(
      @Reloadable
          @AdvancedKey(
              "600000 | 0 … 86400000 | Longest time that a removed replica stays to finish its requests; what runs then runs on unseen.")
          int drainMs,
      @Key(
              " | | Hosts that replicas added at run time may have: ranges of addresses (`10.0.0.0/8`), names, `*.name`; empty: addresses of this machine and of private networks ([security](security.md#replicas-added-at-run-time)).")
          List<String> allowedHosts) {

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
      @AdvancedKey("2000 | 10 … 86400000 | Time between two checks of a replica.") int intervalMs,
      @AdvancedKey("1000 | 1 … 86400000 | Time that a check may take.") int timeoutMs,
      @AdvancedKey("1 | 1 … 100 | Good checks in a row that bring a replica up.") int rise,
      @AdvancedKey("3 | 1 … 100 | Bad checks in a row that take a replica down.") int fall,
      @AdvancedKey(
              "5000 | 0 … 86400000 | Time between two reads of a replica's `/metrics`, for restarts, sleep and load; 0: none.")
          int metricsIntervalMs,
      @AdvancedKey(
              "true | | Count what an engine does for other clients and routers as its load, by its `/metrics`.")
          boolean otherLoad,
      @Key(
              "0 | 0 … 1000000 | Requests that may wait in a replica's own queue, by its `/metrics`; more wait in the router, where they can still go to another replica. 0: any number.")
          int engineQueue) {}

  /** How long each part of a request may take. */
  public record Timeouts(
      @AdvancedKey("1000 | 1 … 86400000 | Connecting to a replica.") int connectMs,
      @AdvancedKey("10000 | 1 … 86400000 | From a client's connection to its first request's head.")
          int requestHeadMs,
      @AdvancedKey(
              "75000 | 1 … 86400000 | From a response's end to the next request's head on the same connection.")
          int keepAliveMs,
      @AdvancedKey("30000 | 1 … 86400000 | Reading a client's body.") int requestBodyMs,
      @Key(
              "300000 | 1 … 86400000 | From dispatch to the first byte; a long prefill and the engine's queue count.")
          int firstByteMs,
      @AdvancedKey("120000 | 1 … 86400000 | Between two bytes of a response.") int streamIdleMs,
      @Key("3600000 | 1 … 86400000 | From dispatch to the last byte.") int totalMs) {}

  /** How large things may get. */
  public record Limits(
      @Reloadable @AdvancedKey("67108864 | 1 … 1073741824 | Largest request body.") int bodyBytes,
      @AdvancedKey("16384 | 256 … 1048576 | Largest request head.") int headerBytes,
      @AdvancedKey(
              "128 | 8 … 1000 | Deepest JSON that is tokenized; a deeper request is routed on load.")
          int jsonDepth,
      @Reloadable
          @AdvancedKey(
              "262144 | 1024 … 1073741824 | Response bytes held for a slow client before its engine is paused.")
          int clientBufferBytes,
      @Reloadable @AdvancedKey("16384 | 1 … 1000000 | Clients' connections; more are closed.")
          int connections,
      @AdvancedKey("256 | 1 … 1000000 | HTTP/2: requests at a time on one connection.")
          int connectionStreams,
      @Reloadable @Key("8192 | 1 … 1000000 | Requests served at a time; more are refused.")
          int requests,
      @AdvancedKey(
              "65536 | 0 … 10000000 | Responses of `/v1/responses` whose replica is remembered, so that what continues them goes there.")
          int storedResponses,
      @Reloadable
          @AdvancedKey(
              "0 | 0 … 1000000 | Max MiB of all request bodies until their responses begin; 0: a quarter of the Java heap.")
          int bodiesMb,
      @Reloadable
          @Key(
              "4096 | 1 … 65536 | Requests in flight at one replica; if all are full, requests wait (`queue`).")
          int replicaRequests) {}

  /** What happens to a request when all replicas that could take it are full. */
  public record Queue(
      @Key(
              "1000 | 0 … 1000000 | Requests that may wait while all replicas that could take them are full; more are refused.")
          int requests,
      @Key("30000 | 1 … 86400000 | Longest wait in the queue; then the request is refused.")
          int timeoutMs,
      @AdvancedKey(
              " | | Request header with a whole number: the lower, the earlier it leaves the queue; without the header 0. None: all are equal.")
          @Nullable String priorityHeader,
      @AdvancedKey(
              "authorization | | Request header that tells clients apart; they take turns in the queue.")
          @Nullable String clientHeader) {}

  /** What happens to a request that a replica did not begin to answer. */
  public record Retry(
      @Key("3 | 1 … 16 | Replicas tried for one request, the first included.") int attempts,
      @AdvancedKey("10 | 0 … 60000 | Longest wait before the second attempt.") int backoffMs,
      @AdvancedKey("500 | 0 … 60000 | Longest wait before any attempt.") int backoffLimitMs,
      @AdvancedKey("20 | 0 … 1000 | Retries in 100 requests, beyond a burst of 200.")
          int budgetPercent) {
    public Retry {
      atMost("retry", "backoff-ms", backoffMs, "backoff-limit-ms", backoffLimitMs);
    }
  }

  /** The threads that turn prompts into tokens. */
  public record Tokenizing(
      @AdvancedKey("0 | 0 … 256 | Tokenizer threads; 0: one per core.") int threads,
      @AdvancedKey("256 | 1 … 65536 | Prompts that may wait for a thread; more are routed on load.")
          int queue,
      @AdvancedKey(
              "500 | 1 … 60000 | Time to tokenize a prompt; later it is routed on load. If not even its model is found in ten times that, it is refused.")
          int deadlineMs,
      @AdvancedKey(
              "4194304 | 1024 … 1073741824 | Longest body that is tokenized; a longer one is routed on load.")
          int bodyBytes,
      @AdvancedKey(
              "true | | Listen only when all tokenizers are loaded, and end if one cannot be; otherwise they are loaded while requests are routed on load.")
          boolean waitForModels,
      @AdvancedKey(
              "when-needed | never, when-needed | Have an engine render what cannot be rendered here, by its `…/render` or `/tokenize`, within the deadline.")
          String remote,
      @AdvancedKey(
              "0 | 0 … 1000000 | Max MiB of cached bodies and texts of all models; 0: a tenth of the Java heap.")
          int cacheMb) {

    /** Whether engines render what cannot be rendered here. */
    public boolean asksEngines() {
      return !remote.equals("never");
    }
  }

  /** How our tokens are compared with the engines'. */
  public record Parity(
      @AdvancedKey(
              "true | | Compare our tokens with those of the engines' `/tokenize`; what differs is routed on load.")
          boolean enabled,
      @AdvancedKey(
              "60000 | 0 … 86400000 | Time between two compared requests of one model; 0: only when an engine starts, and when it counts a prompt otherwise.")
          int sampleIntervalMs,
      @AdvancedKey("5000 | 1 … 60000 | Time that an engine has to tokenize one.") int timeoutMs) {}

  /** Bounds of what is remembered about blocks. */
  public record Index(
      @AdvancedKey(
              "30000 | 100 … 86400000 | How long blocks of a dispatched prompt are expected before events confirm them.")
          int expectedTtlMs,
      @AdvancedKey(
              "2000 | 0 … 86400000 | How long blocks are expected after their request has ended well.")
          int expectedSettleMs,
      @AdvancedKey("65536 | 1 … 100000000 | Max expected blocks per engine.") int expectedBlocks,
      @AdvancedKey("65536 | 0 … 100000000 | Max blocks per engine that wait for an unknown parent.")
          int orphanBlocks,
      @Key(
              "0 | 0 … 1000000 | Max MiB of the index; 0: half of the Java heap. The coldest ends of prompts are dropped first.")
          int memoryMb) {
    public Index {
      atMost("index", "expected-settle-ms", expectedSettleMs, "expected-ttl-ms", expectedTtlMs);
    }
  }

  /** Bounds of the engines' event streams. */
  public record Ingest(
      @AdvancedKey(
              "0 | 0 … 64 | Threads that poll the engines' event sockets; 0: one for four cores.")
          int pollers,
      @AdvancedKey(
              "4096 | 2 … 1000000 | Max queued messages per engine; more count as lost and are replayed.")
          int ringMessages,
      @AdvancedKey(
              "16777216 | 1048576 … 1073741824 | Max queued payload bytes per engine, and of one message; more count as lost.")
          int ringBytes,
      @AdvancedKey(
              "256 | 1 … 1000000 | Max queued MiB of all engines; an engine below its share may exceed it.")
          int ringTotalMb,
      @AdvancedKey(
              "67108864 | 1024 … 1073741824 | Max payload bytes per engine kept during a replay.")
          int bufferedBytes,
      @AdvancedKey("2000 | 10 … 86400000 | Longest silence of an engine in a replay.")
          int replayIdleMs,
      @AdvancedKey("60000 | 100 … 86400000 | Longest duration of one replay.") int replayTotalMs) {
    /** The same as event streams take it. */
    public IngestOptions options() {
      return new IngestOptions(
          pollers == 0 ? IngestOptions.DEFAULT.pollers() : pollers,
          new RingLimits(ringMessages, ringBytes, ringTotalMb * BYTES_PER_MB),
          ReplayLimits.DEFAULT.with(
              Duration.ofMillis(replayIdleMs), Duration.ofMillis(replayTotalMs)),
          BackoffLimits.DEFAULT,
          StreamLimits.DEFAULT.with(bufferedBytes));
    }
  }

  /** What is kept on disk for the next start. */
  public record Snapshot(
      @Key("true | | Keep the index on the local disk for the next start.") boolean enabled,
      @Key(
              " | | Directory of snapshots; none: `$XDG_STATE_HOME/warmpath`, else `~/.warmpath/data`.")
          @Nullable String dir,
      @AdvancedKey("300000 | 100 … 86400000 | Time between two snapshots.") int intervalMs,
      @AdvancedKey(
              "2000 | 1 … 60000 | Longest time that events wait for a snapshot; then it is given up.")
          int maxPauseMs,
      @AdvancedKey("4096 | 1 … 1000000 | Max MiB of a snapshot.") int maxMb,
      @AdvancedKey("3600000 | 1 … 86400000 | Max age of a snapshot; an older one is refused.")
          int maxAgeMs) {}

  /** What is recorded of the fleet. */
  public record Capture(
      @AdvancedKey(" | | Directory for captures of the fleet; none: nothing is recorded.")
          @Nullable String dir,
      @AdvancedKey(
              "false | | Record requests too, token ids in clear, so that predictions can be verified; treat the files as prompts.")
          boolean requests,
      @AdvancedKey(
              "2000 | 10 … 86400000 | Silence of an engine without requests after which its next one can be judged.")
          int quietMs,
      @AdvancedKey("256 | 1 … 1000000 | Max MiB of a capture file before compression.") int maxMb,
      @AdvancedKey("10 | 1 … 100000 | Capture files that are kept, those of earlier runs included.")
          int keep,
      @AdvancedKey("64 | 1 … 4096 | Max MiB that wait for the disk; more are left out and marked.")
          int queueMb) {}

  /** The log of routing decisions. */
  public record DecisionLog(
      @Key(
              " | | File of the decision log, one JSON line a request, without text and token ids; none: no log.")
          @Nullable String file,
      @AdvancedKey("64 | 1 … 1000000 | Max MiB of a decision log file.") int maxMb,
      @AdvancedKey("8 | 1 … 1000 | Decision log files that are kept, the current one included.")
          int keep,
      @AdvancedKey(
              "16 | 1 … 4096 | Max MiB of records that wait for the disk; more are dropped and counted.")
          int queueMb) {}

  /** The log of requests. */
  public record AccessLog(
      @Key(" | | File of the access log, one JSON line a request; none: no log.")
          @Nullable String file,
      @AdvancedKey("64 | 1 … 1000000 | Max MiB of an access log file.") int maxMb,
      @AdvancedKey("8 | 1 … 1000 | Access log files that are kept, the current one included.")
          int keep,
      @AdvancedKey(
              "16 | 1 … 4096 | Max MiB of records that wait for the disk; more are dropped and counted.")
          int queueMb) {}

  /** The process' own log. */
  public record Log(
      @Key("text | text, json | Lines of the log on standard error: text, or a JSON object each.")
          String format) {}

  /** Where traces go. */
  public record Tracing(
      @Key(
              " | | OpenTelemetry collector, `http://host:4318`; without a path `/v1/traces` is added. None: no traces.")
          @Nullable URI endpoint,
      @Key(
              "0.01 | 0.0 … 1.0 | Part of the requests that are traced; one whose `traceparent` decides is traced as that says.")
          double sampleRatio,
      @AdvancedKey("warmpath | | Name of the service in traces.") String serviceName,
      @AdvancedKey(
              " | | File with headers for the collector, a line `NAME: VALUE` each; read at the start.")
          @Nullable String headersFile,
      @AdvancedKey(
              "2048 | 512 … 1000000 | Max spans that wait for the collector; more are dropped.")
          int queue,
      @AdvancedKey("10000 | 1 … 600000 | Time that the collector may take.") int timeoutMs) {

    public Tracing {
      if (endpoint != null
          && (!("http".equals(endpoint.getScheme()) || "https".equals(endpoint.getScheme()))
              || endpoint.getHost() == null)) {
        throw new IllegalArgumentException("'tracing.endpoint' must be http(s)://host:port");
      }
    }
  }

  /** What the router adds to responses, and takes from requests. */
  public record Headers(
      @Key(
              "auto | auto, always, never | Pass the credentials of clients (`authorization`, `x-api-key`, `api-key`, `cookie`) to replicas; `auto`: if there are no `auth.keys-file` and no `api-key-file` of the replica.")
          String passCredentials,
      @AdvancedKey("true | | Add the response header `x-warmpath-replica`.") boolean enabled,
      @AdvancedKey(
              "false | | Add `x-warmpath-cached-tokens` too, the predicted cached tokens; it shows clients what others have cached.")
          boolean cachedTokens) {}

  /** What is done before the process listens. */
  public record WarmUp(
      @AdvancedKey(
              "5 | 0 … 600 | `serve`: longest time of requests to a stub engine before the process listens, so that it is fast at once; 0: none.")
          int seconds,
      @AdvancedKey("20000 | 1 … 10000000 | Max requests of the warm-up.") int requests) {}

  /** How long leaving may take. */
  public record Shutdown(
      @Key("0 | 0 … 86400000 | Time between failing readiness and refusing requests.") int delayMs,
      @Key("30000 | 0 … 86400000 | Time for streams to finish.") int deadlineMs) {}

  /** When the configuration is read anew. */
  public record Reload(
      @Reloadable
          @Key(
              "false | | Reload when the content of the configuration file changes; looked at every `auth.poll-ms`.")
          boolean watch) {}
}
