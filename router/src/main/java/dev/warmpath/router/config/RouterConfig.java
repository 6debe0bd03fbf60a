package dev.warmpath.router.config;

import dev.warmpath.eventingest.follow.IngestOptions;
import dev.warmpath.router.routing.policy.Policies;
import java.time.DateTimeException;
import java.time.ZoneId;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Everything that a router process is told at its start. {@link ConfigKeys} has the meaning, unit
 * and bounds of each value.
 *
 * <p>Immutable.
 */
public record RouterConfig(
    Listen listen,
    Address admin,
    Policy policy,
    List<Model> models,
    List<ReplicaConfig> replicas,
    Health health,
    Timeouts timeouts,
    Limits limits,
    Queue queue,
    Retry retry,
    Tokenizing tokenizing,
    Parity parity,
    Index index,
    IngestOptions ingest,
    Snapshot snapshot,
    Capture capture,
    DecisionLog decisionLog,
    Headers headers,
    WarmUp warmUp,
    Shutdown shutdown) {

  public RouterConfig {
    models = List.copyOf(models);
    replicas = List.copyOf(replicas);
    distinct("models", models.stream().map(Model::name).toList());
    distinct("replicas", replicas.stream().map(ReplicaConfig::name).toList());
  }

  /** The model that a request without a model means: the only one, if there is one only. */
  public Optional<Model> onlyModel() {
    return models.size() == 1 ? Optional.of(models.get(0)) : Optional.empty();
  }

  private static void distinct(String key, List<String> names) {
    Set<String> seen = new HashSet<>();
    for (String name : names) {
      if (!seen.add(name)) {
        throw new IllegalArgumentException("'" + key + "': name '" + name + "' is given twice");
      }
    }
  }

  /** A host and a port; port 0 takes any. */
  public record Address(String host, int port) {}

  /**
   * Where clients connect.
   *
   * @param metrics whether metrics are served there too
   */
  public record Listen(Address address, int eventLoops, boolean metrics) {}

  /**
   * What the router adds to responses.
   *
   * @param cachedTokens whether that includes the predicted cached tokens
   */
  public record Headers(boolean enabled, boolean cachedTokens) {}

  /**
   * How a replica is chosen.
   *
   * @param options those that the policy has; checked by making one
   */
  public record Policy(String name, Map<String, Double> options, String sessionHeader) {
    public Policy {
      options = Map.copyOf(options);
      Policies.named(name, options);
    }
  }

  /** A model and where its tokenizer is: a path or {@code embedded}. */
  public record Model(String name, String tokenizer, Rendering rendering) {

    /** A model whose engines were started without any option about prompts. */
    public Model(String name, String tokenizer) {
      this(name, tokenizer, Rendering.DEFAULT);
    }
  }

  /**
   * How a model's engines were started, as far as that changes their prompts.
   *
   * @param chatTemplate a file, null for the model's own template
   * @param chatTemplateArguments a JSON object, null for none
   * @param contentFormat auto, string or openai
   * @param timeZone null for this machine's
   * @param maxModelTokens 0 if nothing is known of it
   */
  public record Rendering(
      @Nullable String chatTemplate,
      @Nullable String chatTemplateArguments,
      String contentFormat,
      boolean excludesToolsWhenNone,
      boolean trustsRequestTemplates,
      @Nullable String timeZone,
      int maxModelTokens) {

    static final Rendering DEFAULT = new Rendering(null, null, "auto", false, false, null, 0);

    public Rendering {
      if (timeZone != null) {
        checkZone(timeZone);
      }
    }

    private static void checkZone(String zone) {
      try {
        ZoneId.of(zone);
      } catch (DateTimeException e) {
        throw new IllegalArgumentException("'time-zone' is unknown: '" + zone + "'", e);
      }
    }
  }

  /**
   * When a replica counts as up, and as full.
   *
   * @param engineQueue requests that may wait in its engines' own queues; 0 for any number
   */
  public record Health(
      int intervalMs, int timeoutMs, int rise, int fall, int metricsIntervalMs, int engineQueue) {}

  /** How long each part of a request may take. */
  public record Timeouts(
      Clients clients, int connectMs, int firstByteMs, int streamIdleMs, int totalMs) {

    /** How long a client may take. */
    public record Clients(int headMs, int bodyMs, int keepAliveMs) {}
  }

  /** How large things may get. */
  public record Limits(
      int bodyBytes, int headerBytes, int jsonDepth, int clientBufferBytes, AtOnce atOnce) {

    /**
     * How many may be there at a time.
     *
     * @param bodiesMb request bodies together; 0 for a share of the heap
     * @param replicaRequests requests in flight at one replica
     */
    public record AtOnce(int connections, int requests, int bodiesMb, int replicaRequests) {}
  }

  /**
   * What happens to a request when all replicas that could take it are full.
   *
   * @param requests how many may wait
   * @param timeoutMs how long
   * @param priorityHeader null if all are equal
   * @param clientHeader null if all count as one client's
   */
  public record Queue(
      int requests,
      int timeoutMs,
      @Nullable String priorityHeader,
      @Nullable String clientHeader) {}

  /**
   * What happens to a request that a replica did not begin to answer.
   *
   * @param budgetPercent retries in 100 requests
   */
  public record Retry(int attempts, int backoffMs, int backoffLimitMs, int budgetPercent) {
    public Retry {
      if (backoffMs > backoffLimitMs) {
        throw new IllegalArgumentException(
            "'retry.backoff-limit-ms' must be at least 'retry.backoff-ms'");
      }
    }
  }

  /**
   * The threads that turn prompts into tokens.
   *
   * @param waitForModels whether the router listens only when all tokenizers are loaded
   * @param asksEngines whether engines render what cannot be rendered here
   * @param cacheMb memory for bodies and texts that were seen, 0 for a share of the heap
   */
  public record Tokenizing(
      int threads,
      int queue,
      int deadlineMs,
      int bodyBytes,
      boolean waitForModels,
      boolean asksEngines,
      int cacheMb) {}

  /**
   * How our tokens are compared with the engines'.
   *
   * @param sampleIntervalMs between two requests of one model that are compared, 0 for none
   */
  public record Parity(boolean enabled, int sampleIntervalMs, int timeoutMs) {}

  /** Bounds of what is remembered about blocks. */
  public record Index(
      int expectedTtlMs, int expectedSettleMs, int expectedBlocks, int orphanBlocks, int memoryMb) {
    public Index {
      if (expectedSettleMs > expectedTtlMs) {
        throw new IllegalArgumentException(
            "'index.expected-settle-ms' must be at most 'index.expected-ttl-ms'");
      }
    }
  }

  /**
   * What is kept on disk for the next start.
   *
   * @param dir null for the usual one
   */
  public record Snapshot(boolean enabled, @Nullable String dir, int intervalMs, Bounds bounds) {

    /** What a snapshot may take. */
    public record Bounds(int maxPauseMs, int maxMb, int maxAgeMs) {}
  }

  /**
   * What is recorded of the fleet.
   *
   * @param dir null for nothing
   * @param requests whether prompts are recorded too
   * @param quietMs after so long a silence an engine counts as quiescent
   */
  public record Capture(@Nullable String dir, boolean requests, int quietMs, Room room) {

    /** How large the files and the queue before them may get. */
    public record Room(int maxMb, int keep, int queueMb) {}
  }

  /**
   * The log of routing decisions.
   *
   * @param file null for none
   * @param maxMb most MiB of a file
   * @param keep files that are kept, the current one too
   * @param queueMb most MiB of records that wait for the disk
   */
  public record DecisionLog(@Nullable String file, int maxMb, int keep, int queueMb) {}

  /**
   * What is done before the process listens.
   *
   * @param seconds longest time; 0 for no warm-up
   * @param requests how many requests at most
   */
  public record WarmUp(int seconds, int requests) {}

  /** How long leaving may take. */
  public record Shutdown(int delayMs, int deadlineMs) {}
}
