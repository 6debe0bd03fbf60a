package dev.warmpath.router.config;

import dev.warmpath.eventingest.follow.BackoffLimits;
import dev.warmpath.eventingest.follow.IngestOptions;
import dev.warmpath.eventingest.ring.RingLimits;
import dev.warmpath.eventingest.session.StreamLimits;
import dev.warmpath.eventingest.transport.Descriptors;
import dev.warmpath.eventingest.transport.ReplayLimits;
import dev.warmpath.router.config.read.AdvancedKey;
import dev.warmpath.router.config.read.Key;
import dev.warmpath.router.config.read.Reloadable;
import java.net.URI;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
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
    Files files,
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
    LogFile decisionLog,
    LogFile accessLog,
    Log log,
    Tracing tracing,
    @Reloadable Headers headers,
    WarmUp warmUp,
    @Reloadable Shutdown shutdown,
    Reload reload) {

  private static final int HEALTH_CONNECTIONS = 2;

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
      @Key("127.0.0.1 | | Address for clients.") String host,
      @Key("8080 | 0 … 65535 | Port for clients; 0: any.") int port,
      @AdvancedKey("0 | 0 … 256 | Event loops; 0: one per two cores.") int eventLoops,
      @Reloadable @Key("false | | Serve `/metrics` on the clients' port.") boolean metrics,
      @Key("false | | Accept HTTP/2: clear text (prior knowledge or upgrade) and TLS.")
          boolean http2,
      @AdvancedKey(" | | More paths to route by load: `/PATH` for POST, or `METHOD /PATH`.")
          List<String> paths,
      @Reloadable
          @AdvancedKey(
              " | | Origins of web pages that may call, as `https://app.example`, or `*`; none: no page of another origin ([security](security.md#web-pages)).")
          List<String> cors,
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

  /** Where operators connect. */
  public record Admin(
      @Key("127.0.0.1 | | Admin address; keep it private.") String host,
      @Key("8081 | 0 … 65535 | Admin port; 0: any.") int port,
      @Key(" | | Admin keys in clear, one a line, sent as `Authorization: Bearer`; none: no key.")
          @Nullable String keyFile,
      @Key("false | | Serve `/metrics` on the admin port without a key.") boolean openMetrics,
      @Key("1000 | 0 … 100000 | Decisions kept for the admin port; 0: none.") int decisionsKept,
      @AdvancedKey(
              "0 | 0 … 4096 | Max MiB of kept decisions; 0: a 64th of the Java heap, at most 32.")
          int decisionsMb,
      @Key(
              "false | | Keep decisions' token ids and show prompts as text"
                  + " ([security](security.md#prompts-on-the-admin-port)).")
          boolean showPrompts,
      ListenTls tls) {}

  /** How replicas come and go. */
  public record Fleet(
      @Reloadable
          @AdvancedKey(
              "600000 | 0 … 86400000 | Max time a removed replica stays to finish its requests.")
          int drainMs,
      @Key(
              " | | Hosts of replicas added at run time: ranges (`10.0.0.0/8`), names, `*.name`;"
                  + " empty: this machine and private networks"
                  + " ([security](security.md#replicas-added-at-run-time)).")
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
      @AdvancedKey("2000 | 10 … 86400000 | Between two checks of a replica.") int intervalMs,
      @AdvancedKey("1000 | 1 … 86400000 | Timeout of a check.") int timeoutMs,
      @AdvancedKey("1 | 1 … 100 | Good checks in a row that bring a replica up.") int rise,
      @AdvancedKey("3 | 1 … 100 | Bad checks in a row that take a replica down.") int fall,
      @AdvancedKey(
              "5000 | 0 … 86400000 | Between two reads of a replica's `/metrics`, for restarts,"
                  + " sleep and load; 0: never.")
          int metricsIntervalMs,
      @AdvancedKey("true | | Count an engine's other traffic as load, by its `/metrics`.")
          boolean otherLoad) {}

  /** How long each part of a request may take. */
  public record Timeouts(
      @AdvancedKey("1000 | 1 … 86400000 | Connecting to a replica.") int connectMs,
      @AdvancedKey(
              "10000 | 1 … 86400000 | Accepting a client's connection to its first request's head, TLS included.")
          int requestHeadMs,
      @AdvancedKey("75000 | 1 … 86400000 | Response's end to the connection's next request head.")
          int keepAliveMs,
      @AdvancedKey(
              "30000 | 1 … 86400000 | Longest silence within a client's body; slower than 500 bytes"
                  + " a second counts as silence.")
          int requestBodyMs,
      @Key(
              "300000 | 1 … 86400000 | Longest silence before a response's first byte, the engine's"
                  + " queue and prefill included; for a stream, or a replica that is not"
                  + " [alive](reliability.md#silence).")
          int firstByteMs,
      @AdvancedKey(
              "120000 | 1 … 86400000 | Longest silence between two bytes of a response, of a"
                  + " replica that is not [alive](reliability.md#silence); longest time that a"
                  + " client reads nothing.")
          int streamIdleMs,
      @Key("3600000 | 1 … 86400000 | Dispatch to last byte.") int totalMs,
      @Key(
              "0 | 0 … 86400000 | Interval of comments in a streamed response in which nothing else"
                  + " comes, from its wait in the queue on"
                  + " ([keep-alive](reliability.md#keep-alive)); 0: none.")
          int sseKeepAliveMs) {}

  /** How large things may get. */
  public record Limits(
      @Reloadable @AdvancedKey("67108864 | 1 … 1073741824 | Max request body.") int bodyBytes,
      @AdvancedKey("16384 | 256 … 1048576 | Max request head.") int headerBytes,
      @AdvancedKey("128 | 8 … 1000 | Max JSON depth to tokenize; deeper: routed by load.")
          int jsonDepth,
      @Reloadable
          @AdvancedKey(
              "262144 | 1024 … 1073741824 | Response bytes held for a slow client before its engine"
                  + " is paused.")
          int clientBufferBytes,
      @Reloadable @AdvancedKey("16384 | 1 … 1000000 | Max client connections; more are closed.")
          int connections,
      @AdvancedKey("256 | 1 … 1000000 | HTTP/2: max concurrent requests per connection.")
          int connectionStreams,
      @Reloadable @Key("8192 | 1 … 1000000 | Max concurrent requests; more are refused.")
          int requests,
      @AdvancedKey(
              "65536 | 0 … 10000000 | `/v1/responses`: remembered responses, so that follow-ups"
                  + " reach their replica.")
          int storedResponses,
      @Reloadable
          @AdvancedKey(
              "0 | 0 … 1000000 | Max MiB of request bodies until their responses begin; 0: a sixth"
                  + " of the Java heap.")
          int bodiesMb,
      @Reloadable @Key("4096 | 1 … 65536 | Max requests in flight per replica; more queue.")
          int replicaRequests,
      @Reloadable
          @Key(
              "0 | 0 … 1000000 | Max requests waiting in a replica's own queue, by its `/metrics`;"
                  + " more wait here. 0: any.")
          int engineWaiting) {}

  /** What happens to a request when all replicas that could take it are full. */
  public record Queue(
      @Key("1000 | 0 … 1000000 | Max queued requests; more are refused.") int requests,
      @Key("30000 | 1 … 86400000 | Longest wait in the queue, then refused.") int timeoutMs,
      @AdvancedKey(
              " | | Request header with an integer priority, lower first, default 0; none: all"
                  + " equal.")
          @Nullable String priorityHeader,
      @AdvancedKey(
              "authorization | | Request header that tells clients apart; they take turns in the"
                  + " queue.")
          @Nullable String clientHeader) {}

  /** What happens to a request that a replica did not begin to answer. */
  public record Retry(
      @Key("3 | 1 … 16 | Replicas tried per request, the first included.") int attempts,
      @AdvancedKey("10 | 0 … 60000 | Longest wait before the second attempt.") int backoffMs,
      @AdvancedKey("500 | 0 … 60000 | Longest wait before any attempt.") int backoffLimitMs,
      @AdvancedKey("20 | 0 … 1000 | Retries per 100 requests, beyond a burst of 200.")
          int budgetPercent) {
    public Retry {
      atMost("retry", "backoff-ms", backoffMs, "backoff-limit-ms", backoffLimitMs);
    }
  }

  /** The threads that turn prompts into tokens. */
  public record Tokenizing(
      @AdvancedKey(
              "0 | 0 … 256 | Tokenizer threads; 0: one per core, and at most one per 64 MiB of the"
                  + " Java heap.")
          int threads,
      @AdvancedKey("256 | 1 … 65536 | Max prompts waiting for a thread; more are routed by load.")
          int queue,
      @AdvancedKey(
              "500 | 1 … 60000 | Time to tokenize, then routed by load; without even its model in"
                  + " ten times that, refused.")
          int deadlineMs,
      @AdvancedKey("4194304 | 1024 … 1073741824 | Max body to tokenize; longer: routed by load.")
          int bodyBytes,
      @AdvancedKey(
              "true | | Listen only with all tokenizers loaded, and exit if one cannot be; else"
                  + " route by load meanwhile.")
          boolean waitForModels,
      @AdvancedKey(
              "when-needed | never, when-needed | Let an engine render (`…/render`, `/tokenize`)"
                  + " what the router cannot, within the deadline.")
          String remote,
      @AdvancedKey(
              "0 | 0 … 1000000 | Max MiB of cached bodies and texts, all models; 0: a tenth of the"
                  + " Java heap.")
          int cacheMb) {

    /** Whether engines render what cannot be rendered here. */
    public boolean asksEngines() {
      return !remote.equals("never");
    }
  }

  /** How our tokens are compared with the engines'. */
  public record Parity(
      @AdvancedKey(
              "true | | Compare tokens with engines' `/tokenize`; models that differ are routed by"
                  + " load.")
          boolean enabled,
      @AdvancedKey(
              "60000 | 0 … 86400000 | Between two compared requests of a model; 0: only when"
                  + " engines start or miscount.")
          int sampleIntervalMs,
      @AdvancedKey("5000 | 1 … 60000 | Timeout of one comparison.") int timeoutMs) {}

  /** Bounds of what is remembered about blocks. */
  public record Index(
      @AdvancedKey(
              "30000 | 100 … 86400000 | How long a dispatched prompt's blocks are expected without"
                  + " events.")
          int expectedTtlMs,
      @AdvancedKey(
              "2000 | 0 … 86400000 | How long blocks stay expected after their request succeeded.")
          int expectedSettleMs,
      @AdvancedKey("65536 | 1 … 100000000 | Max expected blocks per engine.") int expectedBlocks,
      @AdvancedKey("65536 | 0 … 100000000 | Max blocks per engine waiting for an unknown parent.")
          int orphanBlocks,
      @Key(
              "0 | 0 … 1000000 | Max MiB of the index; 0: three eighths of the Java heap. The"
                  + " coldest prompts are dropped first.")
          int memoryMb) {
    public Index {
      atMost("index", "expected-settle-ms", expectedSettleMs, "expected-ttl-ms", expectedTtlMs);
    }
  }

  /** Bounds of the engines' event streams. */
  public record Ingest(
      @AdvancedKey("0 | 0 … 64 | Threads polling event sockets; 0: one per four cores.")
          int pollers,
      @AdvancedKey(
              "4096 | 2 … 1000000 | Max queued messages per engine; more are lost and replayed.")
          int ringMessages,
      @AdvancedKey(
              "16777216 | 1048576 … 1073741824 | Max queued payload bytes per engine, and per"
                  + " message; more are lost.")
          int ringBytes,
      @AdvancedKey(
              "0 | 0 … 1000000 | Max queued MiB, all engines; an engine below its share may exceed"
                  + " it. 0: a 32nd of the Java heap, at most 256.")
          int ringTotalMb,
      @AdvancedKey(
              "0 | 0 … 1073741824 | Max payload bytes per engine kept during a replay; 0: a 64th of"
                  + " the Java heap, at most 64 MiB.")
          int bufferedBytes,
      @AdvancedKey("2000 | 10 … 86400000 | Longest silence in a replay.") int replayIdleMs,
      @AdvancedKey("60000 | 100 … 86400000 | Longest replay.") int replayTotalMs) {
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
      @Key("true | | Keep the index on disk for the next start.") boolean enabled,
      @Key(" | | Snapshot directory; none: `$XDG_STATE_HOME/warmpath`, else `~/.warmpath/data`.")
          @Nullable String dir,
      @AdvancedKey("300000 | 100 … 86400000 | Between two snapshots.") int intervalMs,
      @AdvancedKey("2000 | 1 … 60000 | Longest pause of events for a snapshot, then given up.")
          int maxPauseMs,
      @AdvancedKey("4096 | 1 … 1000000 | Max snapshot MiB.") int maxMb,
      @AdvancedKey("3600000 | 1 … 86400000 | Older snapshots are refused.") int maxAgeMs) {}

  /** What is recorded of the fleet. */
  public record Capture(
      @AdvancedKey(" | | Directory for captures; none: off.") @Nullable String dir,
      @AdvancedKey(
              "false | | Record requests too, token ids in clear, to verify predictions; treat"
                  + " files as prompts.")
          boolean requests,
      @AdvancedKey(
              "2000 | 10 … 86400000 | Idle time of an engine before its next request can be"
                  + " judged.")
          int quietMs,
      @AdvancedKey("256 | 1 … 1000000 | Max MiB of a file before compression.") int maxMb,
      @AdvancedKey("10 | 1 … 100000 | Files kept, earlier runs' included.") int keep,
      @AdvancedKey("64 | 1 … 4096 | Max MiB waiting for the disk; more are dropped and marked.")
          int queueMb) {}

  /** A log of requests. */
  public record LogFile(
      @Key(" | | [Log](operations.md#logs-and-traces), one JSON line a request; none: off.")
          @Nullable String file,
      @AdvancedKey("64 | 1 … 1000000 | Max MiB of a file.") int maxMb,
      @AdvancedKey("8 | 1 … 1000 | Files kept, the current one included.") int keep,
      @AdvancedKey("16 | 1 … 4096 | Max MiB waiting for the disk; more are dropped.")
          int queueMb) {}

  /** The process' own log. */
  public record Log(@Key("text | text, json | Process log on standard error.") String format) {}

  /** Where traces go. */
  public record Tracing(
      @Key(
              " | | OpenTelemetry collector, `http://host:4318` (default path `/v1/traces`); none:"
                  + " off.")
          @Nullable URI endpoint,
      @Key(
              "0.01 | 0.0 … 1.0 | Fraction of requests traced; a sampling decision in `traceparent`"
                  + " wins.")
          double sampleRatio,
      @AdvancedKey("warmpath | | Service name in traces.") String serviceName,
      @AdvancedKey(" | | Headers for the collector, `NAME: VALUE` lines; read at the start.")
          @Nullable String headersFile,
      @AdvancedKey("2048 | 512 … 1000000 | Max queued spans; more are dropped.") int queue,
      @AdvancedKey("10000 | 1 … 600000 | Timeout of the collector.") int timeoutMs) {

    public Tracing {
      if (endpoint != null
          && (!("http".equals(endpoint.getScheme()) || "https".equals(endpoint.getScheme()))
              || endpoint.getHost() == null)) {
        throw new IllegalArgumentException("'tracing.endpoint' must be http(s)://host:port");
      }
    }
  }

  /** How files that change are followed. */
  public record Files(
      @AdvancedKey(
              "2000 | 10 … 86400000 | Polling interval for keys, certificates and the configuration"
                  + " file.")
          int pollMs) {}

  /** What the router adds to responses, and takes from requests. */
  public record Headers(
      @Key(
              "auto | auto, always, never | Pass clients' credentials (`authorization`,"
                  + " `x-api-key`, `api-key`, `cookie`) to replicas; `auto`: if neither"
                  + " `auth.keys-file` nor the replica's `api-key-file` is set.")
          String passCredentials,
      @AdvancedKey(
              "auto | auto, always, never | Pass `kv_transfer_params` of answers, in which engines"
                  + " name hosts and blocks; `auto`: if the request has them. Else they are"
                  + " empty.")
          String passTransferParams,
      @AdvancedKey("true | | Add response header `x-warmpath-replica`.") boolean replica,
      @AdvancedKey(
              "false | | Add `x-warmpath-cached-tokens`, the predicted cached tokens; reveals what"
                  + " others have cached.")
          boolean cachedTokens) {}

  /** What is done before the process listens. */
  public record WarmUp(
      @AdvancedKey("5 | 0 … 600 | Max [warm-up](#the-start) before the router is ready; 0: none.")
          int seconds,
      @AdvancedKey("20000 | 1 … 10000000 | Max requests of the warm-up.") int requests) {}

  /** How long leaving may take. */
  public record Shutdown(
      @Key("0 | 0 … 86400000 | From failing readiness to refusing requests.") int delayMs,
      @Key("30000 | 0 … 86400000 | Time for streams to finish.") int deadlineMs) {}

  /** When the configuration is read anew. */
  public record Reload(
      @Reloadable
          @Key("false | | Reload when the file's content changes, checked every `files.poll-ms`.")
          boolean watch) {}
}
