package dev.warmpath.router.config;

import static dev.warmpath.router.config.ConfigKey.bool;
import static dev.warmpath.router.config.ConfigKey.choice;
import static dev.warmpath.router.config.ConfigKey.decimal;
import static dev.warmpath.router.config.ConfigKey.integer;
import static dev.warmpath.router.config.ConfigKey.text;

import dev.warmpath.router.routing.policy.Policies;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Every key of the configuration. The reader, the reference file and the documentation page are
 * held to this list.
 *
 * <p>Immutable.
 */
public final class ConfigKeys {

  private static final long DAY_MS = 86_400_000;

  private static final List<ConfigKey> ENTRANCE =
      List.of(
          text("listen.host", "127.0.0.1", "Address that clients connect to."),
          integer("listen.port", 8080, 0, 65_535, "Port that clients connect to; 0 takes any."),
          integer(
              "listen.event-loops",
              0,
              0,
              256,
              "Event loops; 0: one for two cores, as tokenizer threads need the others."),
          bool("listen.metrics", false, "Answer `/metrics` on the clients' port too."),
          text("admin.host", "127.0.0.1", "Address of the admin endpoints."),
          integer("admin.port", 8081, 0, 65_535, "Port of the admin endpoints; 0 takes any."),
          choice("policy.name", "warm", Policies.names(), "How a replica is chosen."),
          option("load-bound", "`consistent-hash`: most requests of a replica, in averages."),
          option(
              "cache-threshold", "`cache-aware`: least match that counts, as part of the prompt."),
          option("balance-abs-threshold", "`cache-aware`: most requests of difference."),
          option(
              "balance-rel-threshold",
              "`cache-aware`: most requests, in those of the least loaded."),
          option("overlap-decay", "`smg`, `dynamo`: loss of credit per prompt more in the queue."),
          option("prefix-weight", "`llm-d-weighted`: weight of the cached part of the prompt."),
          option("kv-use-weight", "`llm-d-weighted`: weight of the free part of the KV cache."),
          option("queue-weight", "`llm-d-weighted`: weight of the shorter queue."),
          option("affinity-threshold", "`llm-d-affinity`: least match, in the longest one."),
          option("prefill-tokens-per-second", "`llm-d-affinity`: speed of every engine."),
          option("penalty-millis", "`llm-d-affinity`: longest extra wait for a cache."),
          option("prefill-weight", "`dynamo`: weight of a block to prefill against one to decode."),
          option("overlap-credit", "`dynamo`: what a block on the GPU saves, in blocks."),
          option("stay-factor", "`sticky`: most cost of the session's engine, in the least cost."),
          option("miss-weight", "`warm`: requests behind a prompt for each that waits now."),
          option("eviction-weight", "`warm`: what a miss costs beside a full KV cache."),
          option("decode-weight", "`warm`: what a request in flight costs, in steps."),
          option("step-millis", "`warm`: milliseconds of a step of the engine."),
          option("context-millis", "`warm`: milliseconds a step takes longer per context token."),
          text(
              "policy.session-header",
              "x-session-id",
              "Request header that `consistent-hash` and `sticky` keep together."));

  private static final List<ConfigKey> REQUESTS =
      List.of(
          integer("timeouts.connect-ms", 1_000, 1, DAY_MS, "Connecting to a replica."),
          integer(
              "timeouts.request-head-ms",
              10_000,
              1,
              DAY_MS,
              "From a client's connection to its first request's head."),
          integer(
              "timeouts.keep-alive-ms",
              75_000,
              1,
              DAY_MS,
              "From a response's end to the next request's head on the same connection."),
          integer("timeouts.request-body-ms", 30_000, 1, DAY_MS, "Reading a client's body."),
          integer("timeouts.first-byte-ms", 300_000, 1, DAY_MS, "From dispatch to the first byte."),
          integer(
              "timeouts.stream-idle-ms", 120_000, 1, DAY_MS, "Between two bytes of a response."),
          integer("timeouts.total-ms", 3_600_000, 1, DAY_MS, "From dispatch to the last byte."),
          integer("limits.body-bytes", 67_108_864, 1, 1L << 30, "Largest request body."),
          integer("limits.header-bytes", 16_384, 256, 1 << 20, "Largest request head."),
          integer("limits.json-depth", 128, 8, 1_000, "Deepest request that is tokenized."),
          integer(
              "limits.client-buffer-bytes",
              262_144,
              1_024,
              1 << 30,
              "Response bytes held for a slow client before its engine is paused."),
          integer(
              "limits.connections", 16_384, 1, 1_000_000, "Clients' connections; more are closed."),
          integer(
              "limits.requests",
              8_192,
              1,
              1_000_000,
              "Requests served at a time; more are refused."),
          integer(
              "limits.bodies-mb",
              0,
              0,
              1_000_000,
              "Most MiB that request bodies take until their responses begin; 0: a quarter of the Java heap."),
          integer(
              "limits.replica-requests",
              4_096,
              1,
              65_536,
              "Requests in flight at one replica; if all are full, requests wait (`queue`)."),
          integer(
              "queue.requests",
              1_000,
              0,
              1_000_000,
              "Requests that may wait while all replicas that could take them are full; more are refused."),
          integer("queue.timeout-ms", 30_000, 1, DAY_MS, "Longest wait there; then it is refused."),
          text(
              "queue.priority-header",
              null,
              "Request header with a whole number: the lower, the earlier it leaves the queue; without it 0. None: all are equal."),
          text(
              "queue.client-header",
              "authorization",
              "Request header that tells clients apart; each has its turn in the queue."),
          integer(
              "retry.attempts", 3, 1, 16, "Replicas tried for one request, the first included."),
          integer("retry.backoff-ms", 10, 0, 60_000, "Longest wait before the second attempt."),
          integer("retry.backoff-limit-ms", 500, 0, 60_000, "Longest wait before any attempt."),
          integer(
              "retry.budget-percent",
              20,
              0,
              1_000,
              "Retries in 100 requests, beyond 200 that may come at once."),
          integer("tokenizing.threads", 0, 0, 256, "Tokenizer threads; 0 means one per core."),
          integer("tokenizing.queue", 256, 1, 65_536, "Prompts that may wait for a thread."),
          integer(
              "tokenizing.deadline-ms",
              500,
              1,
              60_000,
              "Time to tokenize a prompt; later it is routed on load. If not even its model is found in ten times that, it is refused."),
          integer(
              "tokenizing.body-bytes",
              4 << 20,
              1_024,
              1 << 30,
              "Longest body that is tokenized; a longer one is routed on load."),
          bool(
              "tokenizing.wait-for-models",
              true,
              "Listen only when all tokenizers are loaded, and end if one cannot be; otherwise they are loaded while requests are routed on load."),
          choice(
              "tokenizing.remote",
              "when-needed",
              List.of("never", "when-needed"),
              "Have an engine render what cannot be rendered here, by its `…/render` or `/tokenize`, within the deadline."),
          integer(
              "tokenizing.cache-mb",
              0,
              0,
              1_000_000,
              "Most MiB that remembered bodies and texts of all models take; 0: a tenth of the Java heap."),
          bool(
              "parity.enabled",
              true,
              "Compare our tokens with those of the engines' `/tokenize`; what differs is routed on load."),
          integer(
              "parity.sample-interval-ms",
              60_000,
              0,
              DAY_MS,
              "Time between two requests of one model that are compared; 0: only probes and miscounts."),
          integer("parity.timeout-ms", 5_000, 1, 60_000, "Time that an engine has to cut one."));

  private static final List<ConfigKey> RECORDS =
      List.of(
          text(
              "capture.dir",
              null,
              "Directory for captures of the fleet; none: nothing is recorded."),
          bool(
              "capture.requests",
              false,
              "Record requests too, token ids in clear, so that predictions can be verified."),
          integer(
              "capture.quiet-ms",
              2_000,
              10,
              DAY_MS,
              "Silence of an engine without requests after which its next one can be judged."),
          integer("capture.max-mb", 256, 1, 1_000_000, "MiB of a file before compression."),
          integer(
              "capture.keep", 10, 1, 100_000, "Files that are kept, those of earlier runs too."),
          integer(
              "capture.queue-mb",
              64,
              1,
              4_096,
              "MiB that may wait for the disk; what finds no room is left out and marked."),
          text(
              "decision-log.file",
              null,
              "File of the decision log, one JSON line a request; none: no log."),
          integer("decision-log.max-mb", 64, 1, 1_000_000, "Most MiB of a file."),
          integer("decision-log.keep", 8, 1, 1_000, "Files that are kept, the current one too."),
          integer(
              "decision-log.queue-mb",
              16,
              1,
              4_096,
              "Most MiB of records that wait for the disk; more are dropped and counted."),
          bool("headers.enabled", true, "Add the response header `x-warmpath-replica`."),
          bool(
              "headers.cached-tokens",
              false,
              "Add `x-warmpath-cached-tokens` too, the predicted cached tokens; it shows clients what others have cached."),
          integer(
              "warm-up.seconds",
              5,
              0,
              600,
              "`serve`: longest time in which requests are sent over the loopback to a stub engine before the process listens, so that it is fast at once; 0: none."),
          integer("warm-up.requests", 20_000, 1, 10_000_000, "How many of them are sent at most."),
          integer(
              "shutdown.delay-ms", 0, 0, DAY_MS, "Time between failing readiness and refusing."),
          integer("shutdown.deadline-ms", 30_000, 0, DAY_MS, "Time for streams to finish."));

  /** The keys in the order of the documentation. */
  public static final List<ConfigKey> ALL =
      Stream.of(ENTRANCE, FleetKeys.ALL, REQUESTS, IndexKeys.ALL, RECORDS)
          .flatMap(List::stream)
          .toList();

  private static final Map<String, ConfigKey> BY_PATH =
      ALL.stream().collect(Collectors.toUnmodifiableMap(ConfigKey::path, Function.identity()));

  private ConfigKeys() {}

  private static ConfigKey option(String name, String meaning) {
    return decimal("policy." + name, Policies.standard(name), 0, 1_000_000, meaning);
  }

  static Optional<ConfigKey> find(String path) {
    return Optional.ofNullable(BY_PATH.get(path));
  }

  /** Is this the path of a section or of a list of sections? */
  static boolean isSection(String path) {
    return BY_PATH.keySet().stream().anyMatch(key -> key.startsWith(path + "."));
  }

  /** The key or section of the same parent whose name is most like the last one of {@code path}. */
  static String nearest(String path) {
    String parent = path.substring(0, path.lastIndexOf('.') + 1);
    String name = path.substring(parent.length());
    return ALL.stream()
        .filter(key -> key.path().startsWith(parent))
        .map(key -> key.path().substring(parent.length()).split("[.\\[]", 2)[0])
        .distinct()
        .min(Comparator.comparingInt(candidate -> distance(name, candidate)))
        .map(candidate -> parent + candidate)
        .orElse(parent);
  }

  /** Edits that turn one word into the other. */
  private static int distance(String a, String b) {
    int[] row = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      row[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int replaced = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(replaced, 1 + Math.min(row[j], row[j - 1]));
      }
    }
    return row[b.length()];
  }
}
