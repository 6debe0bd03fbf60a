package dev.warmpath.simulator.fleet;

import dev.warmpath.eventingest.EngineView;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.router.dispatch.Assignment;
import dev.warmpath.router.dispatch.DispatchResult;
import dev.warmpath.router.dispatch.PreparedRequest;
import dev.warmpath.router.dispatch.Prewarming;
import dev.warmpath.router.dispatch.Prompt;
import dev.warmpath.router.fleet.EngineState;
import dev.warmpath.router.fleet.Outcome;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.fleet.SharedPrefix;
import dev.warmpath.simulator.engine.BlockStore;
import dev.warmpath.simulator.engine.CachedSequence;
import dev.warmpath.simulator.engine.EngineConfig;
import dev.warmpath.simulator.engine.EngineRequest;
import dev.warmpath.simulator.engine.Link;
import dev.warmpath.simulator.fleet.EventHeap.Kind;
import dev.warmpath.simulator.fleet.FleetPlan.Incident;
import dev.warmpath.simulator.fleet.VirtualRequest.Question;
import dev.warmpath.simulator.trace.Trace;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.LongConsumer;

/**
 * Plays a workload to a fleet and says what became of each request. Dispatchers, policies, indexes
 * and what routers tell each other are the router's own; engines, network and time are simulated.
 * The same plan and workload always give the same result.
 *
 * <p>Single writer.
 */
public final class VirtualFleet {

  private static final double NANOS = 1e9;
  private static final double NANOS_PER_MILLI = 1e6;
  private static final int ATTEMPTS = 3;

  /** So often OpenAI's clients ask again by default. */
  private static final int RETRIES = 2;

  /** {@code Retry-After} of a request that waited for too long. */
  private static final long RETRY_NANOS = 1_000_000_000L;

  private static final long TICK_NANOS = 5_000_000;

  /** What still waits after so long with nobody at work waits for ever. */
  private static final long MOST_QUIET_NANOS = 600_000_000_000L;

  /** So often a router looks after engines that have joined. */
  private static final long LOOK_NANOS = 100_000_000;

  /** More than a minute, after which it lets them be. */
  private static final int LOOKS = 650;

  private final FleetPlan plan;
  private final Workload workload;
  private final ChainSpace space;
  private final EventHeap heap = new EventHeap();
  private final List<VirtualEngine> engines = new ArrayList<>();
  private final List<VirtualRouter> routers = new ArrayList<>();
  private final VirtualNetwork network;
  private final Measures measures;
  private final int[] firsts;
  private final Map<Long, VirtualRequest> transfers = new HashMap<>();
  private final Map<Integer, Waiting> waiting = new HashMap<>();
  private long nextTransfer;
  private int nextFirst;
  private long untilNanos = Long.MAX_VALUE;
  private long nowNanos;
  private long playedNanos;

  public VirtualFleet(FleetPlan plan, Workload workload) {
    this.plan = plan;
    this.workload = workload;
    measures = new Measures(workload.requests());
    firsts = workload.firsts();
    int blockSize = plan.engine().cache().blockSizeTokens();
    if (blockSize != workload.trace().blockSizeTokens()) {
      throw new IllegalArgumentException(
          "blockSizeTokens=%d, of the trace %d"
              .formatted(blockSize, workload.trace().blockSizeTokens()));
    }
    space = new ChainSpace("virtual", blockSize, 0);
    FleetPlan.Shared shared = plan.beyond().store();
    BlockStore store =
        shared == null ? null : new BlockStore(shared.blocks(), BlockStore.Listener.NONE);
    EngineConfig config = plan.engine().with(plan.engine().cache().with(store));
    for (int i = 0; i < plan.mostEngines(); i++) {
      EngineConfig own = config.with(plan.costs().get(i % plan.costs().size()));
      VirtualEngine engine = new VirtualEngine(i, own, this::announceStep);
      engine.view = view(engine, Trust.EXACT);
      engines.add(engine);
    }
    if (store != null) {
      store.listener(
          new BlockStore.Listener() {
            @Override
            public void stored(CachedSequence sequence, int block) {
              routers.forEach(router -> router.put(sequence, block));
            }

            @Override
            public void removed(long blockName) {
              routers.forEach(router -> router.dropped(blockName));
            }
          });
    }
    Routers front = plan.routers();
    network =
        new VirtualNetwork(
            front.sharing(),
            plan.seed(),
            (nanos, message) -> heap.add(nowNanos + nanos, Kind.MESSAGE, message));
    for (int i = 0; i < front.count(); i++) {
      routers.add(
          new VirtualRouter(
              i, plan, engines, front.isSharing() ? network : null, () -> nowNanos, this::prewarm));
    }
  }

  private EngineView view(VirtualEngine engine, Trust trust) {
    return new EngineView(engine.number, space, trust);
  }

  /**
   * Plays everything.
   *
   * @param progress hears now and then how many requests have arrived
   */
  public Measures run(LongConsumer progress) {
    return run(progress, Double.POSITIVE_INFINITY);
  }

  /**
   * Plays what arrives up to a time; the rest never arrives.
   *
   * @param progress hears now and then how many requests have arrived
   */
  public Measures run(LongConsumer progress, double untilSeconds) {
    untilNanos = nanos(untilSeconds);
    for (int i = 0; i < plan.incidents().size(); i++) {
      heap.add(nanos(plan.incidents().get(i).seconds()), Kind.INCIDENT, i);
    }
    announceFirst();
    beginToShare();
    long arrivals = 0;
    while (!heap.isEmpty()) {
      nowNanos = heap.nextNanos();
      Kind kind = heap.nextKind();
      long subject = heap.nextSubject();
      heap.remove();
      playedNanos = heap.isQuiet() ? playedNanos : nowNanos;
      switch (kind) {
        case ARRIVAL -> {
          arrive((int) subject);
          if ((++arrivals & 1023) == 0) {
            progress.accept(arrivals);
          }
        }
        case STEP_END -> endStep((int) (subject >>> 32), (int) subject);
        case EVENTS_HEARD -> engines.get((int) subject).hear(routers, space.rootKey());
        case INCIDENT -> happen(plan.incidents().get((int) subject));
        case TICK -> tick(routers.get((int) subject));
        case MESSAGE -> routers.get(network.deliver(subject)).touch();
        case TRANSFERRED -> transferred(subject);
        case PATIENCE_ENDS -> refuse((int) subject);
        case LOOK -> look((int) subject);
      }
    }
    progress.accept(arrivals);
    return measures;
  }

  /** What is free now of the load at the knee, as the first router has it. */
  double kneeHeadroom() {
    return routers.get(0).dispatcher.kneeHeadroom();
  }

  private static long nanos(double seconds) {
    return Math.round(seconds * NANOS);
  }

  private void announceFirst() {
    if (nextFirst < firsts.length) {
      int request = firsts[nextFirst++];
      heap.add(nanos(workload.arrivalSeconds(request)), Kind.ARRIVAL, request);
    }
  }

  /** The routers' ticks come evenly, each router's at times of its own. */
  private void beginToShare() {
    if (plan.routers().isSharing()) {
      network.open();
      for (VirtualRouter router : routers) {
        heap.add(TICK_NANOS * router.number / routers.size(), Kind.TICK, router.number);
      }
    }
  }

  private void tick(VirtualRouter router) {
    router.tick(nowNanos);
    boolean isWaiting = routers.stream().anyMatch(VirtualRouter::isWaiting);
    if (!heap.isQuiet() || (isWaiting && nowNanos - playedNanos < MOST_QUIET_NANOS)) {
      heap.add(nowNanos + TICK_NANOS, Kind.TICK, router.number);
    }
  }

  private void announceStep(long atNanos, VirtualEngine engine, int step) {
    heap.add(atNanos, Kind.STEP_END, (long) engine.number << 32 | step);
  }

  private void arrive(int request) {
    Waiting before = waiting.remove(request);
    if (before != null) {
      ask(before.question);
      return;
    }
    if (nowNanos > untilNanos) {
      return;
    }
    if (workload.isFirst(request)) {
      announceFirst();
    }
    int prompt = workload.promptTokens(request);
    measures.arrived(request, nowNanos / NANOS, prompt);
    if (prompt + workload.answerTokens(request) > plan.engine().maxModelTokens()) {
      over(request, true);
      return;
    }
    long[] names = workload.blockNames(request);
    PreparedRequest prepared =
        new PreparedRequest(
            null,
            Prompt.ofBlocks(BlockChain.ofLocalHashes(space, prompt, names)),
            workload.session(request),
            true,
            prompt,
            0,
            null,
            null,
            plan.pairs().isOn(),
            true);
    VirtualRouter router =
        routers.get(plan.routers().of(request, workload.session(request), plan.seed()));
    Question question =
        new Question(request, router, prepared, workload.answerTokens(request), names, nowNanos);
    ask(question);
  }

  private void ask(Question question) {
    VirtualRouter router = question.router;
    answered(
        question, router.dispatcher.admit(question.prepared, result -> answered(question, result)));
    router.touch();
  }

  /** The dispatcher has said who gets the request, or that it waits. */
  private void answered(Question question, DispatchResult result) {
    if (result instanceof DispatchResult.Queued queued) {
      waiting.put(question.number, new Waiting(question, queued));
      heap.add(nowNanos + plan.queueMillis() * 1_000_000, Kind.PATIENCE_ENDS, question.number);
      return;
    }
    waiting.remove(question.number);
    if (result instanceof Assignment assignment) {
      send(question, assignment);
    } else if (result instanceof DispatchResult.NoCandidate) {
      over(question.number, true);
    }
  }

  /** A request that still waits has waited too long; its client asks again a few times. */
  private void refuse(int request) {
    Waiting one = waiting.get(request);
    if (one == null || !one.queued.withdraw()) {
      return;
    }
    if (one.question.refusals++ < RETRIES) {
      heap.add(nowNanos + RETRY_NANOS, Kind.ARRIVAL, request);
    } else {
      waiting.remove(request);
      over(request, true);
    }
  }

  private void send(Question question, Assignment assignment) {
    VirtualRouter router = question.router;
    VirtualEngine answering = router.engine(assignment.replica());
    given(question, answering);
    question.answers = assignment;
    question.answeringLives = answering.lives;
    Assignment computes = assignment.prefill();
    VirtualEngine engine = answering;
    VirtualRequest request;
    if (computes == null) {
      request = VirtualRequest.whole(question, answering, assignment);
    } else {
      engine = router.engine(computes.replica());
      given(question, engine);
      request = VirtualRequest.prefill(question, engine, computes);
    }
    measures.assigned(
        question.number,
        engine.number,
        assignment.choice().prediction().cachedTokens(),
        computes != null);
    if (engine.faults.blackHole) {
      failed(request);
      return;
    }
    EngineState source = assignment.source();
    int end = source == null ? 0 : heldEnd(router.engine(source.replica()), request);
    if (source != null && end > 0) {
      Link link = Objects.requireNonNull(plan.beyond().pull());
      int tokens = end - engine.cachedTokens(request);
      transfer(request.received(end), tokens, link, router.engine(source.replica()), engine);
    } else {
      engine.underWay.add(request);
      engine.submit(request, nowNanos);
    }
  }

  /** Where the tokens end that another engine's host memory has more than this one; 0 if none. */
  private static int heldEnd(VirtualEngine from, VirtualRequest request) {
    int own = request.engine.cachedTokens(request);
    int end = from.engine().hostEndTokens(request, own);
    return end > own ? end : 0;
  }

  private void given(Question question, VirtualEngine engine) {
    if (plan.index().kind() == IndexMode.Kind.ROUTED) {
      VirtualRouter router = question.router;
      router
          .routed(engine)
          .given(router.index, engine.number, space.rootKey(), question.names, nowNanos);
    }
  }

  /** A prompt was computed for another engine: what that one lacks is sent there. */
  private void handOver(VirtualRequest computed) {
    Question question = computed.question;
    computed.computedNanos = nowNanos;
    question.router.touch();
    computed.assignment.answered();
    computed.assignment.firstToken();
    report(computed);
    computed.assignment.finished(Outcome.COMPLETED);
    VirtualEngine from = computed.engine;
    VirtualEngine to = question.router.engine(question.answers.replica());
    VirtualRequest answer = VirtualRequest.decode(computed, to, question.answers);
    if (to.lives != question.answeringLives || to.faults.blackHole) {
      failed(answer);
      return;
    }
    int lacking = answer.promptTokens() - to.cachedTokens(answer);
    transfer(answer, lacking, plan.pairs().link(), from, to);
  }

  /** So many tokens go from one engine to another; then the request begins there. */
  private void transfer(
      VirtualRequest request, int tokens, Link link, VirtualEngine from, VirtualEngine to) {
    long begins = Math.max(nowNanos, Math.max(from.sendsUntilNanos, to.receivesUntilNanos));
    long ends = begins + Math.round(1e3 * link.microsPerToken() * tokens);
    from.sendsUntilNanos = ends;
    to.receivesUntilNanos = ends;
    to.underWay.add(request);
    transfers.put(nextTransfer, request);
    heap.add(
        ends + Math.round(link.fixedMillis() * NANOS_PER_MILLI), Kind.TRANSFERRED, nextTransfer++);
  }

  private void transferred(long transfer) {
    VirtualRequest answer = Objects.requireNonNull(transfers.remove(transfer));
    if (answer.engine.underWay.contains(answer)) { // and both engines are who they were
      VirtualRequest computed = answer.computed;
      if (computed != null) {
        computed.engine.free(computed, nowNanos);
      }
      answer.engine.submit(answer, nowNanos);
    }
  }

  private void failed(VirtualRequest request) {
    Question question = request.question;
    if (request.computed != null) {
      request.computed.engine.free(request.computed, nowNanos);
    }
    for (VirtualRequest answer : transfers.values()) {
      if (request.equals(answer.computed)) {
        answer.engine.underWay.remove(answer);
      }
    }
    request.assignment.finished(Outcome.FAILED);
    if (question.answers != request.assignment) {
      question.answers.finished(Outcome.CANCELLED);
    }
    question.failures++;
    Set<String> failedOn = new HashSet<>(question.failedOn);
    failedOn.add(request.assignment.replica().name());
    question.failedOn = failedOn;
    if (question.failures < ATTEMPTS) {
      answered(question, question.router.dispatcher.assign(question.prepared, failedOn));
    } else {
      over(question.number, true);
    }
  }

  private void endStep(int number, int step) {
    VirtualEngine engine = engines.get(number);
    if (!engine.stepEnd(step, this::token)) {
      return;
    }
    if (plan.index().kind() == IndexMode.Kind.ROUTED) {
      engine.events.forget();
    } else if (engine.events.endBatch()) {
      if (plan.index().millis() == 0) {
        engine.hear(routers, space.rootKey());
      } else {
        long later = Math.round(plan.index().millis() * NANOS_PER_MILLI);
        heap.add(nowNanos + later, Kind.EVENTS_HEARD, number);
      }
    }
    tell(engine);
    engine.goOn(nowNanos);
  }

  /** A request that is in a router's queue, or was until it was refused and comes again. */
  private record Waiting(Question question, DispatchResult.Queued queued) {}

  private final List<VirtualRequest> begun = new ArrayList<>();
  private final List<VirtualRequest> ended = new ArrayList<>();
  private final List<PrewarmRequest> prewarmed = new ArrayList<>();

  private void token(EngineRequest answered, int index, boolean last) {
    if (answered instanceof PrewarmRequest prefix) {
      prewarmed.add(prefix);
      return;
    }
    VirtualRequest request = (VirtualRequest) answered;
    if (index == 0) {
      begun.add(request);
    }
    if (last) {
      ended.add(request);
    }
  }

  /** The router and the clients hear of a step's first and last tokens, after its events. */
  private void tell(VirtualEngine engine) {
    for (VirtualRequest request : begun) {
      if (request.isPrefill()) {
        continue;
      }
      request.firstTokenNanos = nowNanos;
      request.question.router.touch();
      request.assignment.answered();
      VirtualRequest computed = request.computed;
      if (computed != null) {
        request.assignment.transferred((nowNanos - computed.computedNanos) / NANOS_PER_MILLI);
      }
      request.assignment.firstToken();
      VirtualRequest computing = computed == null ? request : computed;
      measures.first(
          request.question.number,
          (nowNanos - request.question.arrivedNanos) / NANOS_PER_MILLI,
          computing.cachedTokens(),
          computing.hostTokens(),
          computing.loadMillis());
    }
    begun.clear();
    List<VirtualRequest> all = List.copyOf(ended);
    ended.clear();
    for (VirtualRequest request : all) {
      if (request.isPrefill()) {
        handOver(request);
        continue;
      }
      engine.underWay.remove(request);
      request.question.router.touch();
      measures.ended(
          request.question.number,
          (nowNanos - request.firstTokenNanos) / NANOS_PER_MILLI,
          request.answerTokens());
      if (request.computed == null) {
        report(request);
        request.assignment.served(null, request.cachedTokens(), request.answerTokens());
      }
      request.assignment.served(null, -1, request.answerTokens());
      request.assignment.streamed(request.answerTokens() - 1, nowNanos);
      request.assignment.finished(Outcome.COMPLETED);
      over(request.question.number, false);
    }
    List<PrewarmRequest> prefixes = List.copyOf(prewarmed);
    prewarmed.clear();
    prefixes.forEach(PrewarmRequest::computed);
    endLeaving(engine);
  }

  private void report(VirtualRequest request) {
    int prompt = request.promptTokens();
    int cached = request.cachedTokens();
    request.assignment.usage(prompt, cached);
    measures.uncached(
        request.question.number, request.assignment.choice().uncached(prompt, cached));
  }

  /** The next turn comes when its time to think is over; a session ends with a turn that failed. */
  private void over(int request, boolean rejected) {
    if (rejected) {
      measures.rejected(request);
      return;
    }
    int next = workload.next(request);
    if (next != Trace.NONE) {
      heap.add(nowNanos + nanos(workload.thinkSeconds(next)), Kind.ARRIVAL, next);
    }
  }

  private void happen(Incident incident) {
    VirtualEngine engine = engineOf(incident);
    switch (incident.kind()) {
      case FAIL -> fail(engine);
      case RECOVER -> {
        routers.forEach(router -> router.replica(engine).health(Replica.Health.UP));
        engine.view = view(engine, Trust.EXACT);
      }
      case SLOW -> engine.faults.slowness = incident.factor();
      case LEAVE, LEAST_WORTH_LEAVES, MOST_WORTH_LEAVES -> {
        engine.leaving = true;
        routers.forEach(router -> router.replica(engine).draining(true));
        endLeaving(engine);
      }
      case JOIN, JOIN_WARM -> {
        routers.forEach(router -> router.join(engine));
        look(incident.kind() == Incident.Kind.JOIN ? 0 : LOOKS);
      }
      case DEAF -> engine.faults.deaf = true;
      case BLACK_HOLE -> engine.faults.blackHole = true;
      case FORGOTTEN -> {
        engine.losses++;
        routers.forEach(router -> router.index.suspended(engine.number));
        engine.view = view(engine, Trust.SUSPECT);
      }
    }
    routers.forEach(router -> router.dispatcher.freed());
    routers.forEach(VirtualRouter::touch);
  }

  private void look(int looks) {
    if (looks > 0) {
      routers.get(0).lookAtNewcomers();
      heap.add(nowNanos + LOOK_NANOS, Kind.LOOK, looks - 1);
    }
  }

  private Runnable prewarm(
      VirtualEngine engine, SharedPrefix prefix, Consumer<Prewarming.Answer> done) {
    PrewarmRequest request = new PrewarmRequest(prefix, done);
    engine.submit(request, nowNanos);
    return () -> engine.abort(request, nowNanos);
  }

  private VirtualEngine engineOf(Incident incident) {
    return switch (incident.kind()) {
      case LEAST_WORTH_LEAVES -> byWorth(Comparator.naturalOrder());
      case MOST_WORTH_LEAVES -> byWorth(Comparator.reverseOrder());
      default -> engines.get(incident.engine());
    };
  }

  /** The first by its worth, and of equal ones by its number. */
  private VirtualEngine byWorth(Comparator<Double> order) {
    return routers.get(0).worthSeconds().entrySet().stream()
        .min(
            Map.Entry.<VirtualEngine, Double>comparingByValue(order)
                .thenComparingInt(entry -> entry.getKey().number))
        .orElseThrow(() -> new IllegalStateException("no engine of known worth"))
        .getKey();
  }

  /** One that leaves is gone when nothing runs there any more. */
  private void endLeaving(VirtualEngine engine) {
    if (engine.leaving && engine.underWay.isEmpty()) {
      engine.leaving = false;
      engine.faults.deaf = true; // what it has still to say is of a cache that is gone
      routers.forEach(router -> router.leave(engine));
    }
  }

  private void fail(VirtualEngine engine) {
    routers.forEach(router -> router.replica(engine).health(Replica.Health.DOWN));
    List<VirtualRequest> lost = List.copyOf(engine.underWay);
    engine.restart();
    engine.losses++;
    for (VirtualRouter router : routers) {
      router.index.cleared(engine.number);
      router.routed(engine).clear();
    }
    for (VirtualRequest request : lost) {
      failed(request);
    }
  }

  /**
   * A prefix that an engine is asked to compute.
   *
   * <p>Single writer.
   */
  private static final class PrewarmRequest extends EngineRequest {

    private final Consumer<Prewarming.Answer> done;

    PrewarmRequest(SharedPrefix prefix, Consumer<Prewarming.Answer> done) {
      super(
          block -> prefix.chain().localHash(block), // nobody asks for the answer's only token
          prefix.chain().blocks() * prefix.chain().space().blockSizeTokens(),
          1);
      this.done = done;
    }

    void computed() {
      int computed = promptTokens() - cachedTokens();
      done.accept(new Prewarming.Answer(Prewarming.Result.COMPUTED, computed, null));
    }
  }
}
