package dev.warmpath.router.tokenize;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.fleet.Fleet;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.metrics.Metric;
import dev.warmpath.router.metrics.MetricValues;
import dev.warmpath.router.prompt.PromptPool.RemoteReader;
import dev.warmpath.router.prompt.ReadRequest;
import dev.warmpath.router.upstream.EngineClient;
import dev.warmpath.router.upstream.EngineClient.Answer;
import dev.warmpath.router.upstream.EngineHttp;
import dev.warmpath.router.upstream.Upstreams;
import dev.warmpath.tokenizer.PromptResult;
import dev.warmpath.tokenizer.RequestKind;
import dev.warmpath.tokenizer.body.FallbackCause;
import dev.warmpath.tokenizer.chat.EngineDate;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Clock;
import java.time.Duration;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.EnumSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Has an engine render what cannot be rendered here: its {@code …/render} where an operator opened
 * it, else its {@code /tokenize} for requests that mean the same there. What was said once is
 * remembered for the day. Without an answer the request is routed as if nobody had been asked.
 *
 * <p>Thread-safe.
 */
public final class RemotePrompts implements RemoteReader, AutoCloseable {

  private static final int ANSWER_BYTES = 16 << 20;

  /** As many prompts may be rendered by one replica at a time. */
  private static final int CONNECTIONS = 64;

  /** Two questions may follow one another, and reading took time before. */
  private static final int QUESTIONS_IN_A_DEADLINE = 3;

  private static final Set<Integer> NOT_OFFERED = Set.of(401, 403, 404, 405, 501);

  /** What engines may know. */
  private static final Set<FallbackCause> ASKED =
      EnumSet.of(
          FallbackCause.UNSUPPORTED_MODEL,
          FallbackCause.TEMPLATE_UNSUPPORTED,
          FallbackCause.NO_TEMPLATE,
          FallbackCause.REQUEST_TEMPLATE,
          FallbackCause.LOADING,
          FallbackCause.NOT_LOADED,
          FallbackCause.QUARANTINED);

  /**
   * What it works with. Thread-safe.
   *
   * @param cacheBytes of remembered prompts
   */
  public record Sources(
      Fleet fleet,
      Function<String, @Nullable String> adapterOf,
      EngineDates dates,
      long cacheBytes,
      LongSupplier nanoClock,
      MeterRegistry meters) {}

  /** A request that is asked about; without a key what is said of it is not remembered. */
  private record Asked(
      RequestKind kind, ObjectNode request, @Nullable BigInteger key, @Nullable String adapter) {}

  private final Sources sources;
  private final EngineHttp http;
  private final Duration timeout;
  private final PromptCache cache;
  private final Map<String, Gate> gates = new ConcurrentHashMap<>();
  private final AtomicInteger turn = new AtomicInteger();

  /** Asks the engines of the fleet, over connections of its own. */
  public RemotePrompts(Supplier<RouterConfig> running, Upstreams upstreams, Sources sources) {
    EngineClient.Limits limits =
        new EngineClient.Limits(
            () -> running.get().timeouts().connectMs(), CONNECTIONS, ANSWER_BYTES);
    this.sources = sources;
    this.http =
        new EngineHttp(
            work -> {
              Thread thread = new Thread(work, "warmpath-render-http");
              thread.setDaemon(true);
              return thread;
            },
            upstreams.newClient("render", limits));
    int deadlineMs = running.get().tokenizing().deadlineMs();
    this.timeout = Duration.ofMillis(Math.max(1, deadlineMs / QUESTIONS_IN_A_DEADLINE));
    this.cache = new PromptCache(sources.cacheBytes());
  }

  /** How much of the room for remembered prompts is taken, for a scrape. */
  public void collect(MetricValues to) {
    to.add(Metric.REMOTE_MEMORY_SHARE, cache.share());
  }

  /** The replica may cut prompts otherwise in its new life. */
  public void restarted(Replica replica) {
    cache.clear();
    removed(replica);
  }

  /** The replica has left the fleet. */
  public void removed(Replica replica) {
    gates.keySet().removeIf(key -> key.startsWith(replica.name() + ' '));
  }

  @Override
  public @Nullable CompletableFuture<@Nullable PromptResult> ask(
      RequestKind kind, byte[] body, ReadRequest local) {
    String path = RenderCall.path(kind);
    FallbackCause cause = local.request().prompt().fallback();
    ObjectNode tree = local.tree();
    if (path == null || tree == null || cause == null || !ASKED.contains(cause)) {
      return null;
    }
    String model = local.request().model();
    String adapter = model == null ? null : sources.adapterOf().apply(model);
    LocalDate date = sources.dates().of(model);
    BigInteger key = date == null ? null : PromptCache.key(path, date, body);
    try {
      return ask(path, new Asked(kind, tree, key, adapter));
    } catch (IOException e) {
      return null;
    }
  }

  private @Nullable CompletableFuture<@Nullable PromptResult> ask(String path, Asked asked)
      throws IOException {
    int[] known = asked.key() == null ? null : cache.get(asked.key());
    if (known != null) {
      count("memory", "ok");
      return CompletableFuture.completedFuture(prompt(asked, known));
    }
    Replica replica = someReplica(asked.request().path("model").asText(null));
    if (replica == null) {
      return null;
    }
    boolean cuts = TokenizeCall.fits(asked.kind(), asked.request());
    if (gate(replica, "render").allows()) {
      byte[] body = RenderCall.body(asked.request());
      return call(replica, "render", path, body, RenderCall::tokenIds)
          .thenCompose(ids -> ids == null && cuts ? tokenize(replica, asked) : completed(ids))
          .thenApply(ids -> ids == null ? null : remember(asked, ids));
    }
    if (!cuts) {
      count("tokenize", "not_usable");
      return null;
    }
    return tokenize(replica, asked).thenApply(ids -> ids == null ? null : remember(asked, ids));
  }

  private static CompletableFuture<int @Nullable []> completed(int @Nullable [] ids) {
    return CompletableFuture.completedFuture(ids);
  }

  private CompletableFuture<int @Nullable []> tokenize(Replica replica, Asked asked) {
    if (!gate(replica, "tokenize").allows()) {
      count("tokenize", "open_circuit");
      return completed(null);
    }
    byte[] body = TokenizeCall.body(asked.request());
    return call(
        replica, "tokenize", TokenizeCall.PATH, body, answer -> trusted(asked.kind(), answer));
  }

  private static int @Nullable [] trusted(RequestKind kind, byte[] answer) throws IOException {
    int[] ids = TokenizeCall.tokenIds(answer);
    return ids != null && TokenizeCall.isTrusted(kind, ids) ? ids : null;
  }

  /** How an answer is read. */
  private interface Reading {
    int @Nullable [] ids(byte[] answer) throws IOException;
  }

  private CompletableFuture<int @Nullable []> call(
      Replica replica, String source, String path, byte[] body, Reading reading) {
    Gate gate = gate(replica, source);
    return http.post(replica, path, body, timeout)
        .handle((answer, failure) -> {
          if (answer == null) {
            gate.failed();
            count(source, isTimeout(failure) ? "timeout" : "error");
            return null;
          }
          return read(gate, source, answer, reading);
        });
  }

  private int @Nullable [] read(Gate gate, String source, Answer answer, Reading reading) {
    int[] ids = null;
    String outcome = "error";
    if (NOT_OFFERED.contains(answer.status())) {
      gate.notOffered();
      outcome = "not_offered";
    } else if (answer.status() >= 500) {
      gate.failed();
    } else {
      gate.answered();
      ids = answer.status() == 200 ? ids(answer, reading) : null;
      outcome = ids == null ? "not_usable" : "ok";
    }
    count(source, outcome);
    return ids;
  }

  private static int @Nullable [] ids(Answer answer, Reading reading) {
    try {
      return reading.ids(answer.body());
    } catch (IOException e) {
      return null;
    }
  }

  private static boolean isTimeout(Throwable failure) {
    return failure instanceof TimeoutException
        || (failure instanceof CompletionException
            && failure.getCause() instanceof TimeoutException);
  }

  private PromptResult remember(Asked asked, int[] ids) {
    if (asked.key() != null) {
      cache.put(asked.key(), ids);
    }
    return prompt(asked, ids);
  }

  private static PromptResult prompt(Asked asked, int[] ids) {
    return PromptResult.ofEngine(asked.kind(), asked.request(), asked.adapter(), ids);
  }

  private Gate gate(Replica replica, String source) {
    return gates.computeIfAbsent(
        replica.name() + ' ' + source, key -> new Gate(sources.nanoClock()));
  }

  private @Nullable Replica someReplica(@Nullable String model) {
    List<Replica> up =
        sources.fleet().replicas().stream()
            .filter(replica -> replica.health() == Replica.Health.UP && !replica.draining())
            .filter(replica -> replica.serves(model))
            .toList();
    return up.isEmpty() ? null : up.get(Math.floorMod(turn.getAndIncrement(), up.size()));
  }

  private void count(String source, String outcome) {
    Metric.REMOTE_PROMPTS_TOTAL.counter(sources.meters(), source, outcome).increment();
  }

  @Override
  public void close() {
    http.close();
  }

  /**
   * Whether one replica may be asked one thing: not for a while after it said that it does not
   * offer it, and not for a shorter while after several failures in a row.
   *
   * <p>Thread-safe.
   */
  static final class Gate {

    private static final long NOT_OFFERED_NANOS = TimeUnit.MINUTES.toNanos(10);
    private static final long REST_NANOS = TimeUnit.SECONDS.toNanos(30);
    private static final int MOST_FAILURES = 5;

    private final LongSupplier nanoClock;
    private boolean closed;
    private long openAtNanos;
    private int failures;

    Gate(LongSupplier nanoClock) {
      this.nanoClock = nanoClock;
    }

    /** Whether it may be asked now. */
    synchronized boolean allows() {
      if (closed && nanoClock.getAsLong() - openAtNanos >= 0) {
        closed = false;
      }
      return !closed;
    }

    synchronized void notOffered() {
      closeFor(NOT_OFFERED_NANOS);
    }

    /** It answered, well or not. */
    synchronized void answered() {
      failures = 0;
    }

    /** One more failure; after a rest the next one closes it again. */
    synchronized void failed() {
      failures++;
      if (failures >= MOST_FAILURES) {
        failures = MOST_FAILURES - 1;
        closeFor(REST_NANOS);
      }
    }

    private void closeFor(long nanos) {
      closed = true;
      openAtNanos = nanoClock.getAsLong() + nanos;
    }
  }

  /**
   * Token ids that engines said, by a digest of the request. Those asked for least recently give
   * way.
   *
   * <p>Thread-safe.
   */
  static final class PromptCache {

    private static final int BYTES_PER_TOKEN = 4;
    private static final int BYTES_PER_ENTRY = 160;

    private final long limitBytes;
    private final Map<BigInteger, int[]> prompts = new LinkedHashMap<>(16, 0.75f, true);
    private long heldBytes;

    PromptCache(long limitBytes) {
      this.limitBytes = limitBytes;
    }

    /**
     * A name for the request that nobody can make another request have; another one on each day, as
     * prompts may hold the date.
     */
    static BigInteger key(String path, LocalDate date, byte[] body) {
      try {
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        digest.update((path + ' ' + date + ' ').getBytes(StandardCharsets.UTF_8));
        return new BigInteger(1, digest.digest(body));
      } catch (NoSuchAlgorithmException e) {
        throw new IllegalStateException("every Java has SHA-256", e);
      }
    }

    /** The ids, not to be changed; null if they are not known. */
    synchronized int @Nullable [] get(BigInteger key) {
      return prompts.get(key);
    }

    synchronized void put(BigInteger key, int[] ids) {
      int[] before = prompts.put(key, ids);
      heldBytes += weight(ids) - (before == null ? 0 : weight(before));
      Iterator<int[]> oldest = prompts.values().iterator();
      while (heldBytes > limitBytes && oldest.hasNext()) {
        heldBytes -= weight(oldest.next());
        oldest.remove();
      }
    }

    /** What an engine said before is not believed any more. */
    synchronized void clear() {
      prompts.clear();
      heldBytes = 0;
    }

    synchronized double share() {
      return (double) heldBytes / limitBytes;
    }

    private static long weight(int[] ids) {
      return (long) ids.length * BYTES_PER_TOKEN + BYTES_PER_ENTRY;
    }
  }

  /**
   * The dates by the clocks of the models' engines.
   *
   * <p>Thread-safe.
   */
  public static final class EngineDates {

    private final Supplier<RouterConfig> running;
    private final Function<@Nullable String, @Nullable String> modelOf;
    private final Clock clock;

    /** With the configured model that a name in requests means. */
    public EngineDates(
        Supplier<RouterConfig> running,
        Function<@Nullable String, @Nullable String> modelOf,
        Clock clock) {
      this.running = running;
      this.modelOf = modelOf;
      this.clock = clock;
    }

    /** The date in prompts for a model; null if it is about to change, or has just changed. */
    @Nullable LocalDate of(@Nullable String name) {
      return EngineDate.by(clock.withZone(zone(modelOf.apply(name))));
    }

    private ZoneId zone(@Nullable String model) {
      return running.get().models().stream()
          .filter(configured -> configured.name().equals(model))
          .map(configured -> configured.rendering().timeZone())
          .filter(Objects::nonNull)
          .findFirst()
          .map(ZoneId::of)
          .orElseGet(ZoneId::systemDefault);
    }
  }
}
