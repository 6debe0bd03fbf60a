package dev.warmpath.router.config;

import dev.warmpath.eventingest.follow.BackoffLimits;
import dev.warmpath.eventingest.follow.IngestOptions;
import dev.warmpath.eventingest.ring.RingLimits;
import dev.warmpath.eventingest.stream.StreamLimits;
import dev.warmpath.eventingest.zmq.ReplayLimits;
import dev.warmpath.router.config.ConfigNode.Listing;
import dev.warmpath.router.config.ConfigNode.Mapping;
import dev.warmpath.router.config.ConfigNode.Scalar;
import dev.warmpath.router.config.RouterConfig.Address;
import dev.warmpath.router.config.RouterConfig.Capture;
import dev.warmpath.router.config.RouterConfig.DecisionLog;
import dev.warmpath.router.config.RouterConfig.Headers;
import dev.warmpath.router.config.RouterConfig.Health;
import dev.warmpath.router.config.RouterConfig.Index;
import dev.warmpath.router.config.RouterConfig.Limits;
import dev.warmpath.router.config.RouterConfig.Listen;
import dev.warmpath.router.config.RouterConfig.Model;
import dev.warmpath.router.config.RouterConfig.Parity;
import dev.warmpath.router.config.RouterConfig.Policy;
import dev.warmpath.router.config.RouterConfig.Queue;
import dev.warmpath.router.config.RouterConfig.Rendering;
import dev.warmpath.router.config.RouterConfig.Retry;
import dev.warmpath.router.config.RouterConfig.Shutdown;
import dev.warmpath.router.config.RouterConfig.Snapshot;
import dev.warmpath.router.config.RouterConfig.Timeouts;
import dev.warmpath.router.config.RouterConfig.Tokenizing;
import dev.warmpath.router.config.RouterConfig.WarmUp;
import dev.warmpath.router.routing.policy.Policies;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Turns checked nodes into records: a value that is not given gets its key's default; what a record
 * rejects is reported with the origin of its section.
 *
 * <p>Immutable.
 */
final class ConfigReader {

  private final Mapping section;
  private final String path;

  private ConfigReader(Mapping section, String path) {
    this.section = section;
    this.path = path;
  }

  static RouterConfig read(Mapping root) throws ConfigException {
    List<Model> models = new ArrayList<>();
    for (Mapping item : items(root, "models")) {
      models.add(new ConfigReader(item, "models[]").model());
    }
    List<ReplicaConfig> replicas = new ArrayList<>();
    for (Mapping item : items(root, "replicas")) {
      replicas.add(new ConfigReader(item, "replicas[]").replica());
    }
    try {
      return config(root, models, replicas);
    } catch (IllegalArgumentException e) {
      throw new ConfigException(root.origin(), String.valueOf(e.getMessage()));
    }
  }

  private static RouterConfig config(
      Mapping root, List<Model> models, List<ReplicaConfig> replicas) {
    return new RouterConfig(
        of(root, "listen").listen(),
        of(root, "admin").address(),
        of(root, "policy").policy(),
        models,
        replicas,
        of(root, "health").health(),
        of(root, "timeouts").timeouts(),
        of(root, "limits").limits(),
        of(root, "queue").queue(),
        of(root, "retry").retry(),
        of(root, "tokenizing").tokenizing(),
        of(root, "parity").parity(),
        of(root, "index").index(),
        of(root, "ingest").ingest(),
        of(root, "snapshot").snapshot(),
        of(root, "capture").capture(),
        of(root, "decision-log").decisionLog(),
        of(root, "headers").headers(),
        of(root, "warm-up").warmUp(),
        of(root, "shutdown").shutdown());
  }

  private static ConfigReader of(Mapping root, String key) {
    return new ConfigReader(root.child(key, root.origin()), key);
  }

  private static List<Mapping> items(Mapping root, String key) {
    return root.items(key).stream().map(Mapping.class::cast).toList();
  }

  private Listen listen() {
    return new Listen(address(), integer("event-loops"), bool("metrics"));
  }

  private Headers headers() {
    return new Headers(bool("enabled"), bool("cached-tokens"));
  }

  private Address address() {
    return new Address(text("host"), integer("port"));
  }

  private Policy policy() {
    Map<String, Double> options = new HashMap<>();
    Policies.options(text("name")).keySet().forEach(key -> options.put(key, decimal(key)));
    return new Policy(text("name"), options, text("session-header"));
  }

  private Health health() {
    return new Health(
        integer("interval-ms"),
        integer("timeout-ms"),
        integer("rise"),
        integer("fall"),
        integer("metrics-interval-ms"),
        integer("engine-queue"));
  }

  private Timeouts timeouts() {
    return new Timeouts(
        new Timeouts.Clients(
            integer("request-head-ms"), integer("request-body-ms"), integer("keep-alive-ms")),
        integer("connect-ms"),
        integer("first-byte-ms"),
        integer("stream-idle-ms"),
        integer("total-ms"));
  }

  private Limits limits() {
    return new Limits(
        integer("body-bytes"),
        integer("header-bytes"),
        integer("json-depth"),
        integer("client-buffer-bytes"),
        new Limits.AtOnce(
            integer("connections"),
            integer("requests"),
            integer("bodies-mb"),
            integer("replica-requests")));
  }

  private Retry retry() {
    return new Retry(
        integer("attempts"),
        integer("backoff-ms"),
        integer("backoff-limit-ms"),
        integer("budget-percent"));
  }

  private Queue queue() {
    return new Queue(
        integer("requests"),
        integer("timeout-ms"),
        optional("priority-header"),
        optional("client-header"));
  }

  private Tokenizing tokenizing() {
    return new Tokenizing(
        integer("threads"),
        integer("queue"),
        integer("deadline-ms"),
        integer("body-bytes"),
        bool("wait-for-models"),
        text("remote").equals("when-needed"),
        integer("cache-mb"));
  }

  private Parity parity() {
    return new Parity(bool("enabled"), integer("sample-interval-ms"), integer("timeout-ms"));
  }

  private Index index() {
    return new Index(
        integer("expected-ttl-ms"),
        integer("expected-settle-ms"),
        integer("expected-blocks"),
        integer("orphan-blocks"),
        integer("memory-mb"));
  }

  private IngestOptions ingest() {
    int pollers = integer("pollers");
    return new IngestOptions(
        pollers == 0 ? IngestOptions.DEFAULT.pollers() : pollers,
        new RingLimits(integer("ring-messages"), integer("ring-bytes"), megabytes("ring-total-mb")),
        new ReplayLimits(
            integer("parallel-replays"),
            millis("replay-idle-ms"),
            millis("replay-total-ms"),
            integer("replay-batches"),
            megabytes("replay-mb")),
        backoff(integer("replay-backoff-ms"), integer("replay-backoff-limit-ms")),
        new StreamLimits(
            integer("buffered-batches"),
            integer("buffered-bytes"),
            integer("replay-attempts"),
            millis("replay-rest-ms"),
            millis("probe-ms")));
  }

  private static BackoffLimits backoff(int firstMillis, int longestMillis) {
    if (firstMillis > longestMillis) {
      throw new IllegalArgumentException(
          "'ingest.replay-backoff-limit-ms' must be at least 'ingest.replay-backoff-ms'");
    }
    return new BackoffLimits(firstMillis, longestMillis);
  }

  private Snapshot snapshot() {
    return new Snapshot(
        bool("enabled"),
        optional("dir"),
        integer("interval-ms"),
        new Snapshot.Bounds(integer("max-pause-ms"), integer("max-mb"), integer("max-age-ms")));
  }

  private Capture capture() {
    return new Capture(
        optional("dir"),
        bool("requests"),
        integer("quiet-ms"),
        new Capture.Room(integer("max-mb"), integer("keep"), integer("queue-mb")));
  }

  private DecisionLog decisionLog() {
    return new DecisionLog(
        optional("file"), integer("max-mb"), integer("keep"), integer("queue-mb"));
  }

  private WarmUp warmUp() {
    return new WarmUp(integer("seconds"), integer("requests"));
  }

  private Shutdown shutdown() {
    return new Shutdown(integer("delay-ms"), integer("deadline-ms"));
  }

  private Model model() throws ConfigException {
    try {
      return new Model(required("name"), required("tokenizer"), rendering());
    } catch (IllegalArgumentException e) {
      throw new ConfigException(section.origin(), path + ": " + e.getMessage());
    }
  }

  private Rendering rendering() {
    return new Rendering(
        optional("chat-template"),
        optional("chat-template-kwargs"),
        text("content-format"),
        bool("exclude-tools-when-none"),
        bool("trust-request-template"),
        optional("time-zone"),
        integer("max-model-len"));
  }

  private ReplicaConfig replica() throws ConfigException {
    try {
      return new ReplicaConfig(
          required("name"),
          ReplicaConfig.parseUrl(required("url")),
          optional("events"),
          optional("replay"),
          bool("bind"),
          integer("ranks"),
          ReplicaConfig.Dialect.of(text("dialect")),
          new ReplicaConfig.Cache(
              ReplicaConfig.Cache.removals(optional("removals")),
              integer("max-blocks"),
              integer("full-reports-per-minute"),
              optional("hash-seed"),
              bool("hidden-namespaces"),
              ReplicaConfig.Cache.sglang(
                  text("event-format"), texts("loras"), integer("load-back-tokens"))),
          texts("models"));
    } catch (IllegalArgumentException e) {
      throw new ConfigException(section.origin(), path + ": " + e.getMessage());
    }
  }

  private String required(String key) throws ConfigException {
    String value = optional(key);
    if (value == null) {
      throw new ConfigException(section.origin(), "'" + path + "." + key + "' is missing");
    }
    return value;
  }

  private @Nullable String optional(String key) {
    return (String) value(key);
  }

  private String text(String key) {
    return (String) given(key);
  }

  private int integer(String key) {
    return Math.toIntExact((Long) given(key));
  }

  private Duration millis(String key) {
    return Duration.ofMillis(integer(key));
  }

  private long megabytes(String key) {
    return (long) integer(key) << 20;
  }

  private double decimal(String key) {
    return ((Number) given(key)).doubleValue();
  }

  private boolean bool(String key) {
    return (Boolean) given(key);
  }

  private List<String> texts(String key) {
    if (!(section.entries().get(key) instanceof Listing listing)) {
      return List.of();
    }
    return listing.items().stream().map(item -> String.valueOf(((Scalar) item).value())).toList();
  }

  private Object given(String key) {
    Object value = value(key);
    if (value == null) {
      throw new IllegalStateException("no default: " + path + "." + key);
    }
    return value;
  }

  private @Nullable Object value(String key) {
    ConfigKey known =
        ConfigKeys.find(path + "." + key).orElseThrow(() -> new IllegalStateException(key));
    if (section.entries().get(key) instanceof Scalar scalar && scalar.value() != null) {
      return scalar.value();
    }
    return known.defaultValue();
  }
}
