package dev.warmpath.router.tokenize;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.dispatch.Assignment;
import dev.warmpath.router.dispatch.DispatchListener;
import dev.warmpath.router.dispatch.PreparedRequest;
import dev.warmpath.router.fleet.Fleet;
import dev.warmpath.router.fleet.Outcome;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.metrics.Metric;
import dev.warmpath.router.metrics.MetricValues;
import dev.warmpath.router.prompt.BodyParser;
import dev.warmpath.router.prompt.PromptPool.BodyWatch;
import dev.warmpath.router.prompt.ReadRequest;
import dev.warmpath.router.prompt.TreeRoom;
import dev.warmpath.router.tokenize.ParityCheck.Question;
import dev.warmpath.router.tokenize.ParityCheck.Verdict;
import dev.warmpath.router.tokenize.RecentBodies.Body;
import dev.warmpath.router.upstream.EngineClient;
import dev.warmpath.router.upstream.EngineHttp;
import dev.warmpath.router.upstream.Upstreams;
import dev.warmpath.tokenizer.ModelTokenizer;
import dev.warmpath.tokenizer.RequestKind;
import java.io.IOException;
import java.time.Duration;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compares our tokens with the engines': fixed probes whenever an engine comes up or begins a new
 * life, the body of every request whose length is counted otherwise, and a sample of the others. A
 * model of which a difference is confirmed goes into quarantine; it leaves when an operator says
 * so, or after many samples without a difference. Clients' requests are not touched.
 *
 * <p>Thread-safe.
 */
public final class ParityWatch implements BodyWatch, AutoCloseable {

  /*
   * A body that is compared is parsed once more, then. To keep the tree of its first parse instead
   * would hold up to MOST_WAITING trees, and one for each request under way, until engines have
   * answered: each ten times its body or more, taken from the room in which clients' prompts are
   * read. The bytes are bounded by bodiesBytes, and of a long chat the parser still knows all
   * messages but the last.
   */

  private static final Logger LOG = LoggerFactory.getLogger(ParityWatch.class);
  private static final int MOST_WAITING = 16;
  private static final int LONGEST_BODY_BYTES = 1 << 20;
  private static final int EQUAL_TO_LEAVE = 20;
  private static final int CONNECTIONS = 2;
  private static final int ANSWER_BYTES = 16 << 20;
  private static final int LONGEST_TICK_MILLIS = 500;

  /** Until an engine that did not answer is probed again. */
  private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(30);

  /**
   * What it looks at. Thread-safe.
   *
   * @param bodiesBytes of requests under way that are kept
   */
  public record Sources(
      Fleet fleet,
      LoadedTokenizers tokenizers,
      Function<@Nullable String, @Nullable String> modelOf,
      BodyParser parser,
      TreeRoom trees,
      long bodiesBytes,
      LongSupplier nanoClock) {}

  private final Sources sources;
  private final EngineHttp http;
  private final long sampleNanos;
  private final ParityCheck check;
  private final ScheduledExecutorService thread;
  private final ProbeBook book;
  private final RecentBodies bodies;
  private final Map<String, ParityStatus> status = new ConcurrentHashMap<>();
  private final Map<String, AtomicLong> nextSample = new ConcurrentHashMap<>();
  private final AtomicInteger waiting = new AtomicInteger();
  private final AtomicInteger turn = new AtomicInteger();

  /** Begins to compare, over connections of its own. */
  public ParityWatch(Supplier<RouterConfig> running, Upstreams upstreams, Sources sources) {
    RouterConfig config = running.get();
    EngineClient.Limits limits =
        new EngineClient.Limits(
            () -> running.get().timeouts().connectMs(), CONNECTIONS, ANSWER_BYTES);
    this.sources = sources;
    this.http =
        new EngineHttp(thread("warmpath-parity-http"), upstreams.newClient("parity", limits));
    this.sampleNanos = TimeUnit.MILLISECONDS.toNanos(config.parity().sampleIntervalMs());
    this.bodies = new RecentBodies(sources.bodiesBytes());
    this.check = new ParityCheck(http, Duration.ofMillis(config.parity().timeoutMs()));
    this.book = new ProbeBook(RETRY_NANOS);
    this.thread = Executors.newSingleThreadScheduledExecutor(thread("warmpath-parity"));
    int tickMillis = Math.min(LONGEST_TICK_MILLIS, config.health().intervalMs());
    Future<?> unused =
        thread.scheduleWithFixedDelay(this::tick, 0, tickMillis, TimeUnit.MILLISECONDS);
  }

  private static ThreadFactory thread(String name) {
    return work -> {
      Thread thread = new Thread(work, name);
      thread.setDaemon(true);
      return thread;
    };
  }

  /** What hears of miscounts. */
  public DispatchListener requests() {
    return new ParityTap(this, bodies);
  }

  /** How comparisons of {@code model} went; null if no tokenizer is configured for it. */
  public @Nullable ParityStatus of(String model) {
    return sources.tokenizers().of(model) == null ? null : known(model);
  }

  private ParityStatus known(String model) {
    return status.computeIfAbsent(model, m -> new ParityStatus());
  }

  private void forgetOthers(List<TokenizerStatus> configured) {
    Set<String> models =
        configured.stream().map(TokenizerStatus::model).collect(Collectors.toSet());
    status.keySet().retainAll(models);
    nextSample.keySet().retainAll(models);
    book.retain(models);
  }

  /** How comparisons went, for a scrape. */
  public void collect(MetricValues to) {
    for (TokenizerStatus model : sources.tokenizers().status()) {
      ParityStatus checked = of(model.model());
      if (checked != null) {
        checked
            .counts()
            .forEach((result, count) ->
                to.add(Metric.PARITY_CHECKS_TOTAL, count, model.model(), result.label()));
      }
    }
    to.add(Metric.PARITY_BODIES_SHARE, (double) bodies.heldBytes() / bodies.limitBytes());
  }

  /** The replica has left the fleet, or its engines are other processes than before. */
  public void forget(Replica replica) {
    submit(() -> drop(replica));
  }

  private void drop(Replica replica) {
    book.forget(replica);
    check.forget(replica);
  }

  /** Uses the model's tokenizer again, and probes its engines anew; false if it was in use. */
  public boolean release(String model) {
    boolean released = sources.tokenizers().release(model);
    if (released) {
      LOG.info("the tokenizer of {} is used again", model);
      submit(() -> book.forget(model));
    }
    return released;
  }

  private void submit(Runnable work) {
    try {
      thread.execute(work);
    } catch (RejectedExecutionException e) {
      LOG.debug("closed, nothing is compared any more");
    }
  }

  private void tick() {
    try {
      List<TokenizerStatus> configured = sources.tokenizers().status();
      forgetOthers(configured);
      for (Replica replica : sources.fleet().replicas()) {
        if (replica.health() != Replica.Health.UP) {
          drop(replica);
          continue;
        }
        for (TokenizerStatus model : configured) {
          probeIfDue(replica, model);
        }
      }
    } catch (CancellationException e) {
      LOG.debug("comparing tokens ends with the router", e);
    } catch (RuntimeException e) {
      LOG.error("comparing tokens failed", e);
    }
  }

  private void probeIfDue(Replica replica, TokenizerStatus model) {
    ModelTokenizer tokenizer = model.tokenizer();
    boolean named = replica.models().contains(model.model());
    long now = sources.nanoClock().getAsLong();
    if (tokenizer != null && named && book.due(replica, model.model(), tokenizer, now)) {
      boolean answered = probe(replica, model.model(), tokenizer);
      book.done(replica, model.model(), tokenizer, answered, sources.nanoClock().getAsLong());
    }
  }

  /** Returns whether the engine answered, in whatever way. */
  private boolean probe(Replica replica, String model, ModelTokenizer tokenizer) {
    for (Question probe : ParityProbes.of(model, tokenizer)) {
      ParityResult result = compare(model, probe, replica, "probe");
      if (result == ParityResult.ERROR) {
        return false;
      }
      if (result == ParityResult.UNAVAILABLE || result == ParityResult.DIFFERENT) {
        return true;
      }
    }
    return true;
  }

  private ParityResult compare(String model, Question question, Replica replica, String where) {
    Verdict verdict = check.ask(question, replica, where);
    ParityStatus known = known(model);
    TokenDifference difference = verdict.difference();
    ParityResult result = verdict.result();
    if (difference != null) {
      known.differed(difference);
      result = confirmed(question, replica, where) ? result : ParityResult.UNCONFIRMED;
    }
    known.count(result);
    if (result == ParityResult.DIFFERENT) {
      quarantine(model, replica);
    }
    return result;
  }

  /** Asks a second time, another replica if there is one that can tell. */
  private boolean confirmed(Question question, Replica replica, String where) {
    Replica other = someReplica(question.request().path("model").asText(null), replica);
    ParityResult second =
        other == null ? ParityResult.UNKNOWN : check.ask(question, other, where).result();
    if (second == ParityResult.EQUAL) {
      return false;
    }
    return second == ParityResult.DIFFERENT
        || check.ask(question, replica, where).result() == ParityResult.DIFFERENT;
  }

  private void quarantine(String model, Replica replica) {
    if (sources.tokenizers().quarantine(model)) {
      known(model).beginAnew();
      LOG.error(
          "engine {} cuts prompts of {} otherwise than its tokenizer here: they are routed on load;"
              + " GET /admin/tokenizers shows where",
          replica.name(),
          model);
    }
  }

  private @Nullable Replica someReplica(@Nullable String model, @Nullable Replica not) {
    List<Replica> up =
        sources.fleet().replicas().stream()
            .filter(replica -> replica.health() == Replica.Health.UP && replica.serves(model))
            .filter(replica -> replica != not)
            .toList();
    return up.isEmpty() ? null : up.get(Math.floorMod(turn.getAndIncrement(), up.size()));
  }

  /** Keeps the body while the request is under way, and now and then compares it. */
  @Override
  public void read(RequestKind kind, byte[] body, ReadRequest read) {
    boolean isOne = read.tree() != null && body.length <= LONGEST_BODY_BYTES;
    String model = isOne ? sources.modelOf().apply(read.request().model()) : null;
    if (model == null) {
      return;
    }
    Body kept = new Body(model, kind, body);
    if (read.request().prompt().comparable()) {
      bodies.put(read.request().prompt(), kept);
    }
    if (sampleIsDue(model)) {
      enqueue(kept, null, "sample");
    }
  }

  private boolean sampleIsDue(String model) {
    if (sampleNanos == 0) {
      return false;
    }
    long now = sources.nanoClock().getAsLong();
    AtomicLong next = nextSample.computeIfAbsent(model, m -> new AtomicLong(now));
    long due = next.get();
    return now - due >= 0 && next.compareAndSet(due, now + sampleNanos);
  }

  void miscounted(Body body, Replica replica) {
    enqueue(body, replica, "miscount");
  }

  private void enqueue(Body body, @Nullable Replica replica, String where) {
    if (waiting.incrementAndGet() > MOST_WAITING) {
      waiting.decrementAndGet();
      known(body.model()).count(ParityResult.SKIPPED);
      return;
    }
    submit(() -> {
      waiting.decrementAndGet();
      sample(body, replica, where);
    });
  }

  private void sample(Body body, @Nullable Replica given, String where) {
    try (TreeRoom.Share share = sources.trees().share()) {
      TokenizerStatus model = sources.tokenizers().status(body.model());
      Question question =
          model == null || model.tokenizer() == null
              ? null
              : new Question(
                  model.tokenizer(),
                  body.kind(),
                  (ObjectNode) sources.parser().parse(body.bytes(), share));
      Replica replica =
          given != null || question == null
              ? given
              : someReplica(question.request().path("model").asText(null), null);
      if (question != null && replica != null) {
        compare(body.model(), question, replica, where);
        releaseIfEqual(body.model());
      }
    } catch (TreeRoom.FullException e) {
      known(body.model()).count(ParityResult.SKIPPED);
    } catch (CancellationException e) {
      LOG.debug("comparing a sample ends with the router", e);
    } catch (IOException | RuntimeException e) {
      LOG.error("comparing a sample failed, bodyBytes={}", body.bytes().length, e);
    }
  }

  private void releaseIfEqual(String model) {
    TokenizerStatus now = sources.tokenizers().status(model);
    if (now != null && now.quarantined() && known(model).equalInARow() >= EQUAL_TO_LEAVE) {
      release(model);
    }
  }

  @Override
  public void close() {
    thread.shutdownNow();
    http.close();
  }

  /**
   * Looks into every prompt whose length an engine counts otherwise.
   *
   * <p>Thread-safe.
   */
  private static final class ParityTap implements DispatchListener {

    private final ParityWatch watch;
    private final RecentBodies bodies;

    ParityTap(ParityWatch watch, RecentBodies bodies) {
      this.watch = watch;
      this.bodies = bodies;
    }

    @Override
    public void assigned(PreparedRequest request, Assignment assignment) {
      Body body = bodies.take(request.prompt());
      if (body != null) {
        bodies.put(assignment, body);
      }
    }

    @Override
    public void miscounted(Assignment assignment, int routerTokens, int engineTokens) {
      Body body = bodies.take(assignment);
      if (body != null && assignment.images() == null) {
        watch.miscounted(body, assignment.replica());
      }
    }

    @Override
    public void finished(Assignment assignment, Outcome outcome) {
      bodies.take(assignment);
    }
  }

  /**
   * Which engines were probed for which models.
   *
   * <p>Confined to the thread that probes.
   */
  private static final class ProbeBook {

    private static final long DONE = Long.MAX_VALUE;

    private final long retryNanos;

    /** With which tokenizer it was probed, and when it is to be probed again, or {@link #DONE}. */
    private record Probed(ModelTokenizer tokenizer, long nextNanos) {}

    private final Map<Replica, Map<String, Probed>> probed = new WeakHashMap<>();

    ProbeBook(long retryNanos) {
      this.retryNanos = retryNanos;
    }

    boolean due(Replica replica, String model, ModelTokenizer tokenizer, long nowNanos) {
      Probed last = probed.getOrDefault(replica, Map.of()).get(model);
      return last == null
          || last.tokenizer != tokenizer
          || (last.nextNanos != DONE && nowNanos - last.nextNanos >= 0);
    }

    /** It was probed; without an answer it is tried again later. */
    void done(
        Replica replica, String model, ModelTokenizer tokenizer, boolean answered, long nowNanos) {
      probed
          .computeIfAbsent(replica, r -> new HashMap<>())
          .put(model, new Probed(tokenizer, answered ? DONE : nowNanos + retryNanos));
    }

    /** Forgets all other models. */
    void retain(Set<String> models) {
      probed.values().forEach(known -> known.keySet().retainAll(models));
    }

    void forget(Replica replica) {
      probed.remove(replica);
    }

    void forget(String model) {
      probed.values().forEach(models -> models.remove(model));
    }
  }

  /**
   * How comparisons of one model went.
   *
   * <p>Thread-safe.
   */
  public static final class ParityStatus {

    private final Map<ParityResult, Long> counts = new EnumMap<>(ParityResult.class);
    private @Nullable TokenDifference last;
    private int equalInARow;

    ParityStatus() {
      for (ParityResult result : ParityResult.values()) {
        counts.put(result, 0L);
      }
    }

    synchronized void count(ParityResult result) {
      counts.merge(result, 1L, Long::sum);
      if (result == ParityResult.EQUAL) {
        equalInARow++;
      } else if (result == ParityResult.DIFFERENT) {
        equalInARow = 0;
      }
    }

    synchronized void differed(TokenDifference difference) {
      last = difference;
    }

    synchronized void beginAnew() {
      equalInARow = 0;
    }

    /** Comparisons without a difference since the last one, or since {@link #beginAnew}. */
    synchronized int equalInARow() {
      return equalInARow;
    }

    /** Comparisons by their result. */
    public synchronized Map<ParityResult, Long> counts() {
      return new EnumMap<>(counts);
    }

    /** The last difference that was seen; null if none was. */
    public synchronized @Nullable TokenDifference last() {
      return last;
    }
  }
}
