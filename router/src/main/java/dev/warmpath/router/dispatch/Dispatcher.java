package dev.warmpath.router.dispatch;

import dev.warmpath.eventingest.EngineView;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.router.dispatch.DispatchResult.Cause;
import dev.warmpath.router.fleet.AnswerModel;
import dev.warmpath.router.fleet.CacheWorth;
import dev.warmpath.router.fleet.EngineEvents;
import dev.warmpath.router.fleet.EngineMeters;
import dev.warmpath.router.fleet.EngineReport;
import dev.warmpath.router.fleet.EngineState;
import dev.warmpath.router.fleet.EngineTable;
import dev.warmpath.router.fleet.ExpectedBlocks;
import dev.warmpath.router.fleet.Fleet;
import dev.warmpath.router.fleet.HotPrefixes;
import dev.warmpath.router.fleet.KvTransfer;
import dev.warmpath.router.fleet.Outcome;
import dev.warmpath.router.fleet.PromptUsage;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.fleet.Reservation;
import dev.warmpath.router.metrics.Counters;
import dev.warmpath.router.metrics.Metric;
import dev.warmpath.router.metrics.MetricValues;
import dev.warmpath.router.metrics.Metrics;
import dev.warmpath.router.routing.LoadBack;
import dev.warmpath.router.routing.Policy;
import dev.warmpath.router.routing.RoutingRequest;
import dev.warmpath.router.routing.SplitRule;
import dev.warmpath.router.routing.SplitRules;
import dev.warmpath.tokenizer.PromptResult;
import dev.warmpath.tokenizer.body.FallbackCause;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Gives each request to an engine: asks the index what the candidates hold of its prompt, adds what
 * is on its way to them, lets the policy choose, and reserves load and expected blocks there, so
 * that the next request sees this one.
 *
 * <p>An explanation takes the same way up to the reservation, with the same random draw as the next
 * request: if nothing happens between, it comes true.
 *
 * <p>Thread-safe.
 */
public final class Dispatcher {

  /*
   * Choosing and reserving are one atomic step without a lock around both. `turns` counts the
   * reservations. A choice notes it, looks at the engines one after another, each under its own
   * lock, and reserves under the winner's lock only if the count is still the same; it then counts
   * on before the lock is left. So every choice sees all reservations that were made before it:
   *  - one that was counted before the choice noted the count holds its engine's lock until it is
   *    in place, so whoever looks at that engine later sees it. A replica's ranks share a count of
   *    its requests, so that is read after the locks of all of them were taken;
   *  - one that is counted later makes the choice begin again.
   * Whoever has to begin again lost to one who did reserve, so some request always gets on.
   */

  /**
   * What a dispatcher needs from outside.
   *
   * @param nanoClock counts nanoseconds from anywhere, as {@link System#nanoTime} does
   * @param random used once, for the seed of all draws
   * @param metrics where requests are counted
   * @param listeners hear what happens, one after another
   */
  public record Environment(
      LongSupplier nanoClock,
      RandomGenerator random,
      Metrics metrics,
      List<DispatchListener> listeners) {

    public Environment {
      listeners = List.copyOf(listeners);
    }
  }

  /**
   * Bounds of what is given out.
   *
   * @param replicaRequests requests in flight at one replica
   * @param queueRequests requests that may wait for a replica that has room
   */
  public record Limits(
      ExpectedBlocks.Limits expectedBlocks, int replicaRequests, int queueRequests) {}

  private final Fleet fleet;
  private final KvIndex index;
  private final EngineEvents engineEvents;
  private final Environment environment;
  private final long seed;
  private final AtomicLong turns = new AtomicLong();
  private final ThreadLocal<Selection> selections = ThreadLocal.withInitial(Selection::new);
  private final AnswerModel answers = new AnswerModel();
  private final PrefillRatio ratios = new PrefillRatio();
  private final PromptHistory history = new PromptHistory();
  private final HotPrefixes prefixes;
  private final UncachedCounters uncached;
  private volatile Limits limits;
  private volatile ModelPolicies policies;
  private volatile EngineTable table = EngineTable.EMPTY;
  private volatile Map<EngineState, CacheWorth> worths = Map.of();
  private volatile Map<String, ScalingSignal> scalingSignals = Map.of();
  private volatile boolean keepsScores;
  private volatile SplitRule splitRule = SplitRules.CHEAPEST;
  private volatile LoadBack loadBack = LoadBack.CHEAPEST;
  private volatile boolean pulls;
  private volatile boolean readsBack;
  private volatile double place = RoutingRequest.ALONE;
  private volatile List<DispatchListener> listeners;
  private final WaitingRequests waiting;
  private final Evictions evictions;
  private final Counters<Cause> unassigned;
  private final Counters<FallbackCause> fallbacks;

  public Dispatcher(
      Fleet fleet,
      KvIndex index,
      EngineEvents engineEvents,
      Policy policy,
      Limits limits,
      Environment environment) {
    this.fleet = fleet;
    this.index = index;
    this.engineEvents = engineEvents;
    this.listeners = environment.listeners();
    this.policies = ModelPolicies.of(policy);
    this.limits = limits;
    this.environment = environment;
    this.seed = environment.random().nextLong();
    this.prefixes = new HotPrefixes(environment.nanoClock());
    this.waiting =
        new WaitingRequests(
            () -> this.limits.queueRequests(),
            (entry, heldTokens) ->
                assign(entry.request(), Set.of(), new Waiting(heldTokens, entry.sinceNanos())),
            environment.nanoClock());
    MeterRegistry registry = environment.metrics().registry();
    this.evictions = new Evictions(Metric.EVICTIONS_TOTAL.counter(registry));
    this.unassigned =
        new Counters<>(cause -> Metric.UNASSIGNED_TOTAL.counter(registry, cause.label()));
    this.fallbacks =
        new Counters<>(cause -> Metric.FALLBACKS_TOTAL.counter(registry, cause.label()));
    this.uncached = new UncachedCounters(fleet, registry);
    fleet.onRemoval(gone -> { // what was counted of it goes at once
      table();
      uncached.removed();
    });
  }

  /** Whether assignments keep the scores of their choice, of {@value Plan#MOST_SCORED} engines. */
  public void keepScores(boolean keeps) {
    keepsScores = keeps;
  }

  /** The policy of models without their own. */
  public Policy policy() {
    return policies.usual();
  }

  public ModelPolicies policies() {
    return policies;
  }

  /** Chooses by {@code other}, whatever the model, from the next request on. */
  public void policy(Policy other) {
    policies(ModelPolicies.of(other));
  }

  /** Chooses by these from the next request on. */
  public void policies(ModelPolicies others) {
    policies = others;
  }

  /** Decides from the next request on which ones are split over two engines. */
  public void splitRule(SplitRule other) {
    splitRule = other;
  }

  /** Decides from the next request on whether engines read back what slower memory holds. */
  public void loadBack(LoadBack other) {
    loadBack = other;
  }

  /**
   * Decides from the next request on whether engines get from each other what costs less than to
   * compute it.
   */
  public void pulls(boolean may) {
    pulls = may;
  }

  /**
   * Whether requests should be able to tell an engine to read nothing back: some engine has had a
   * part of a prompt in slower memory only.
   */
  public boolean readsBack() {
    return readsBack && loadBack != LoadBack.ALWAYS;
  }

  /** These bounds hold from the next request on; those of expected blocks only for new engines. */
  public void limits(Limits others) {
    limits = others;
  }

  /**
   * Gives the request to an engine, or lets it wait for one if all are full. None overtakes an
   * equal one that waits.
   *
   * @param later gets what became of a request that had to wait, on any thread
   */
  public DispatchResult admit(PreparedRequest request, Consumer<DispatchResult> later) {
    boolean isHeld = false;
    if (queueLimit() == 0) {
      DispatchResult result = assign(request, Set.of());
      return WaitingRequests.waits(result) ? queueFull() : result;
    }
    if (!waiting.precedes(request)) {
      DispatchResult result =
          assign(request, Set.of(), new Waiting(waiting.heldTokens(request), nanos()));
      if (!WaitingRequests.waits(result)) {
        return result;
      }
      isHeld = WaitingRequests.isHeld(result);
    }
    WaitingRequests.Entry queued = waiting.add(request, isHeld, later);
    if (queued == null) {
      return queueFull();
    }
    waiting.drain(); // what made room before it was there gave it nothing
    if (queued.isWaitingForRoom() && !waiting.isDeferred()) {
      evictions.makeRoomFor(request);
    }
    return queued;
  }

  private DispatchResult queueFull() {
    countUnassigned(Cause.QUEUE_FULL);
    return new DispatchResult.NoCandidate(Cause.QUEUE_FULL);
  }

  /**
   * A request in flight may be ended for one of higher priority that has to wait, if its own is
   * behind that of requests which say nothing.
   *
   * @param end ends it; called once at most, on any thread
   */
  public void evictable(Assignment assignment, PreparedRequest request, Runnable end) {
    evictions.add(assignment, request, end);
  }

  /**
   * Requests wait at other routers too.
   *
   * @param count how many
   * @param longestMillis how long one of them has waited at most
   */
  public void waitingElsewhere(int count, long longestMillis) {
    waiting.elsewhere(count, longestMillis);
  }

  /** Whether requests wait for a place here or at other routers. */
  public boolean anybodyWaits() {
    return waiting.anybody();
  }

  /** This router's {@linkplain RoutingRequest#place place} among the others from now on. */
  public void place(double among) {
    place = among;
  }

  /** Lets time pass: what other routers did not take in their time goes to who waits here. */
  public void tick() {
    waiting.drainDeferred();
    waiting.drainHeld();
  }

  /** How long one of those that wait has waited at most. */
  public long longestWaitMillis() {
    return waiting.longestMillis(nanos());
  }

  /** Requests that wait. */
  public int queued() {
    return waiting.count();
  }

  /** Those of them that wait although there is room, as the policy says. */
  public int held() {
    return waiting.held();
  }

  /** How many may wait. */
  public int queueLimit() {
    return waiting.limit();
  }

  /** How many requests in flight a replica takes at most, whatever was learned of it. */
  public int replicaRequests() {
    return limits.replicaRequests();
  }

  /** A prompt is computed: one that waits although there is room may go. */
  void computed() {
    waiting.drainHeld();
  }

  /** A request is over, or the fleet may have changed: there may be room for one that waits. */
  public void freed() {
    waiting.drain();
  }

  /**
   * Gives the request to an engine, if there is one for it now.
   *
   * @param excluded names of replicas that have failed it already
   */
  public DispatchResult assign(PreparedRequest request, Set<String> excluded) {
    return assign(request, excluded, null);
  }

  /**
   * A request that may wait.
   *
   * @param heldTokens prompt tokens of others that wait although there is room
   * @param sinceNanos when it came
   */
  private record Waiting(long heldTokens, long sinceNanos) {}

  private DispatchResult assign(
      PreparedRequest request, Set<String> excluded, @Nullable Waiting mayWait) {
    Selection selection = selections.get();
    try {
      selection.gather(table(), request, excluded, engineEvents, Selection.PassedOver.NONE);
      selection.match(index, request.prompt(), nanos());
      return assign(selection, request, mayWait);
    } finally {
      selection.release();
    }
  }

  /**
   * Gives the place of a failed try back, then the request to an engine, if there is one for it
   * now. Only then those who wait are asked: a replica that is full but for this request can get it
   * again.
   *
   * @param excluded names of replicas that have failed it already; emptied if it goes to one of
   *     them
   * @param sameAgain whether it may when no other is left
   */
  public DispatchResult reassign(
      PreparedRequest request,
      Assignment failed,
      Outcome outcome,
      Set<String> excluded,
      boolean sameAgain) {
    boolean ended = failed.giveBack(outcome);
    try {
      DispatchResult next = assign(request, excluded);
      if (sameAgain && next instanceof DispatchResult.NoCandidate none && isExcluded(none)) {
        excluded.clear();
        next = assign(request, excluded);
      }
      return next;
    } finally {
      if (ended) {
        freed();
      }
    }
  }

  private static boolean isExcluded(DispatchResult.NoCandidate none) {
    return none.cause() == Cause.EXCLUDED;
  }

  private DispatchResult assign(
      Selection selection, PreparedRequest request, @Nullable Waiting mayWait) {
    Policy chooser = policies.of(request.model());
    while (true) {
      long turn = turns.get();
      long now = nanos();
      if (!fillCandidates(selection, request, now, Selection.PassedOver.NONE)) {
        return noCandidate(selection.nearest());
      }
      RoutingRequest routed =
          routed(selection, request, turn, now, mayWait == null ? now : mayWait.sinceNanos);
      Plan plan = Plan.of(chooser, splitRule, routed, selection);
      if (plan == null) {
        return noCandidate(selection.nearest());
      }
      if (mayWait != null && plan.isHeld(mayWait.heldTokens)) {
        return new DispatchResult.NoCandidate(Cause.HELD);
      }
      Assignment assignment = reserve(plan, request, turn, now);
      if (assignment != null) {
        FallbackCause fallback = request.prompt().fallback(assignment.choice().blocks());
        if (fallback != null) {
          countFallback(fallback);
        }
        return assignment;
      }
    }
  }

  private DispatchResult noCandidate(Cause nearest) {
    if (nearest != Cause.FULL) {
      countUnassigned(nearest); // one that finds all full may wait
    }
    return new DispatchResult.NoCandidate(nearest);
  }

  private void countUnassigned(Cause cause) {
    unassigned.of(cause).increment();
  }

  private void countFallback(FallbackCause cause) {
    if (cause != FallbackCause.NO_PROMPT) {
      fallbacks.of(cause).increment();
    }
  }

  private boolean fillCandidates(
      Selection selection, PreparedRequest request, long now, Selection.PassedOver passedOver) {
    boolean any =
        selection.fillCandidates(
            request, loadBack, pulls, limits.replicaRequests(), now, passedOver);
    if (!readsBack && selection.readsBack()) {
      readsBack = true;
    }
    return any;
  }

  /** The request as a policy sees it; prices the candidates for it where any are split. */
  private RoutingRequest routed(
      Selection selection, PreparedRequest request, long turn, long nowNanos, long sinceNanos) {
    RoutingRequest routed =
        new RoutingRequest(
            request.prompt().lengthTokens(),
            selection.blocks(),
            request.sessionKey(),
            request.prompt().prefixHash(),
            draw(turn),
            nowNanos,
            sinceNanos,
            place);
    if (fleet.transfers() && !splitRule.equals(SplitRules.NEVER)) {
      selection.priceSplit(routed, answers);
    }
    return routed;
  }

  /** SplitMix64: even over all 64 bits, and of no pattern from turn to turn. */
  private long draw(long turn) {
    long mixed = seed + turn * 0x9e3779b97f4a7c15L;
    mixed = (mixed ^ (mixed >>> 30)) * 0xbf58476d1ce4e5b9L;
    mixed = (mixed ^ (mixed >>> 27)) * 0x94d049bb133111ebL;
    return mixed ^ (mixed >>> 31);
  }

  /**
   * Takes what the plan needs, if nothing was reserved since the choice.
   *
   * @return null if something was
   */
  private @Nullable Assignment reserve(Plan plan, PreparedRequest request, long turn, long now) {
    Plan.Leg prefill = plan.prefill();
    Plan.Leg last = plan.last();
    long turnsTaken = prefill == null ? 1 : 2; // each reservation has a number of its own
    BooleanSupplier stillValid = () -> turns.compareAndSet(turn, turn + turnsTaken);
    if (prefill == null) {
      Reservation taken = last.reserve(stillValid, last.demand(request), turn, now);
      return taken == null ? null : assign(last, request, taken, null);
    }
    EngineState.Demand computing = prefill.demand(request);
    EngineState.Demand answering = last.demand(request);
    // both under both locks, in one order for everyone
    boolean isFirst = prefill.engine().number() < last.engine().number();
    Reservation[] inner = new Reservation[1];
    Plan.Leg outer = isFirst ? prefill : last;
    Reservation taken =
        outer.reserve(
            () -> {
              inner[0] =
                  isFirst
                      ? last.reserve(stillValid, answering, turn + 1, now)
                      : prefill.reserve(stillValid, computing, turn, now);
              return inner[0] != null;
            },
            isFirst ? computing : answering,
            isFirst ? turn : turn + 1,
            now);
    if (taken == null) {
      return null;
    }
    Reservation decode = isFirst ? inner[0] : taken;
    Assignment computes;
    try {
      computes = assign(prefill, request, isFirst ? taken : inner[0], null);
    } catch (RuntimeException | Error e) {
      last.engine().end(decode, Outcome.CANCELLED, nanos());
      freed();
      throw e;
    }
    try {
      return assign(last, request, decode, computes);
    } catch (RuntimeException | Error e) {
      computes.finished(Outcome.CANCELLED);
      throw e;
    }
  }

  private Assignment assign(
      Plan.Leg leg,
      PreparedRequest request,
      Reservation reservation,
      @Nullable Assignment prefill) {
    Contender contender = leg.contender();
    EngineState engine = contender.engine();
    Choice choice;
    try {
      Choice computes = prefill == null ? null : prefill.choice();
      UncachedCauses causes = prefill == null ? causes(leg, request.prompt()) : null;
      choice = leg.choice(request.prompt(), keepsScores, computes, causes);
    } catch (RuntimeException | Error e) {
      engine.end(reservation, Outcome.CANCELLED, nanos());
      freed();
      throw e;
    }
    Contender.Pull pull = leg.pull();
    Assignment assignment =
        new Assignment(
            this, engine, request, choice, reservation, pull == null ? null : pull.from(), prefill);
    try {
      long[] note = leg.commit();
      assignment.note(isUsual(leg.policy()) ? note : Policy.NOTHING);
      announceToStream(request, contender, assignment);
      engine.meters().countAssignment(choice.policy(), choice.reason());
      countSlowTier(engine.meters(), choice, contender.slowTokens());
      listeners().forEach(listener -> listener.assigned(request, assignment));
    } catch (RuntimeException | Error e) {
      assignment.finished(Outcome.CANCELLED);
      throw e;
    }
    return assignment;
  }

  /** Why tokens of the prompt would not be cached; null if nothing is predicted. */
  private @Nullable UncachedCauses causes(Plan.Leg leg, Prompt prompt) {
    Prediction prediction = leg.prediction(prompt);
    BlockChain chain = leg.contender().chain();
    if (!prediction.predicts() || chain == null) {
      return null;
    }
    return prediction.basis() == Prediction.Basis.READS_NO_CACHE
        ? new UncachedCauses(List.of())
        : history.causes(
            chain, prediction.cachedTokens(), leg.contender().mostTokens(), this::hasLost);
  }

  /** Whether the engine of that number has lost all that it held since, or has left. */
  private boolean hasLost(int number, int lossesBefore) {
    EngineState engine = table.byNumber().get(number);
    return engine == null
        || (int) engineEvents.losses(engine.replica(), engine.dpRank()) != lossesBefore;
  }

  /**
   * An engine has reported what it reused of a prompt: the rest was not cached for these causes.
   */
  void countUncached(Replica replica, @Nullable String model, UncachedTokens tokens) {
    uncached.count(replica, model, tokens);
  }

  private static void countSlowTier(EngineMeters meters, Choice choice, int ownTokens) {
    Choice.Pulled pulled = choice.pulled();
    if (pulled != null) {
      meters.countSlowTier(Contender.SlowTier.LOADED.label(), ownTokens);
      meters.countSlowTier(Contender.SlowTier.PULLED.label(), pulled.tokens());
    } else if (choice.slowTier() != Contender.SlowTier.NOTHING) {
      meters.countSlowTier(choice.slowTier().label(), ownTokens);
    }
  }

  /** Other routers know the policy of models without their own. */
  @SuppressWarnings("ReferenceEquality")
  private boolean isUsual(Policy policy) {
    return policy == policies.usual();
  }

  /** Tells the engine's side what is about to be sent there. */
  private void announceToStream(
      PreparedRequest request, Contender contender, Assignment assignment) {
    BlockChain chain = contender.isPartlyKnown() ? contender.chain() : null;
    PromptResult.Tokens tokens = request.prompt().tokens();
    if (chain != null && tokens != null) {
      engineEvents.dispatching(assignment.replica(), assignment.dpRank(), chain, tokens);
    }
  }

  /**
   * Who would get the request now if these replicas could not; null if nobody. Reserves nothing.
   *
   * @param excluded names of replicas
   */
  public @Nullable Replica next(PreparedRequest request, Set<String> excluded) {
    Selection selection = selections.get();
    try {
      selection.gather(table(), request, excluded, engineEvents, Selection.PassedOver.NONE);
      long now = nanos();
      selection.match(index, request.prompt(), now);
      if (!fillCandidates(selection, request, now, Selection.PassedOver.NONE)
          || selection.alone().isEmpty()) {
        return null;
      }
      RoutingRequest routed = routed(selection, request, turns.get(), now, now);
      int row = policies.of(request.model()).choose(routed, selection.alone().candidates());
      return selection.alone().row(row).engine().replica();
    } finally {
      selection.release();
    }
  }

  /** Says who would get the request now, and why. Reserves nothing. */
  public Explanation explain(PreparedRequest request) {
    return explain(request, List.of());
  }

  /** The same, and whom these policies would choose. */
  public Explanation explain(PreparedRequest request, List<Policy> others) {
    Selection selection = new Selection();
    Policy chooser = policies.of(request.model());
    long now = nanos();
    Explanation.Builder explanation = new Explanation.Builder(chooser.name(), request.prompt());
    selection.gather(table(), request, Set.of(), engineEvents, explanation);
    selection.match(index, request.prompt(), now);
    if (!fillCandidates(selection, request, now, explanation)) {
      return explanation.nobody(selection.nearest());
    }
    RoutingRequest routed = routed(selection, request, turns.get(), now, now);
    return explanation.chosen(chooser, splitRule, others, routed, selection, this::causes);
  }

  /** The prompt's blocks on each engine that may get the request. */
  public List<EngineChain> chains(PreparedRequest request) {
    Selection selection = new Selection();
    selection.gather(table(), request, Set.of(), engineEvents, Selection.PassedOver.NONE);
    return selection.chains();
  }

  /** Whether requests may be split over two engines of the fleet. */
  public boolean transfers() {
    return fleet.transfers();
  }

  /** The engine of that name; null if the fleet has none. */
  public @Nullable EngineState engine(String name) {
    return table().byName().get(name);
  }

  /** The engines of the fleet. */
  public Collection<EngineState> engines() {
    return table().byName().values();
  }

  /**
   * Another router has sent a request to this engine: the policy remembers what that one's does.
   */
  public void remember(long[] note, EngineState engine) {
    if (note.length > 0) {
      policies.usual().remember(note, engine.number());
    }
  }

  /** All engines of the fleet. */
  public List<EngineReport> report() {
    List<EngineReport> reports = new ArrayList<>();
    for (List<EngineState> ranks : table().engines()) {
      for (EngineState engine : ranks) {
        reports.add(
            new EngineReport(
                engine.replica(),
                engine.dpRank(),
                engine.name(),
                engineEvents.view(engine.replica(), engine.dpRank()),
                engine.meters().handedOver(),
                worths.get(engine),
                engine.snapshot(nanos())));
      }
    }
    return reports;
  }

  /**
   * What would be lost with each replica, in seconds, as it was found last. One with an engine of
   * which that is not known is left out.
   */
  public Map<String, Double> worthSeconds() {
    Map<EngineState, CacheWorth> found = worths;
    Map<String, Double> seconds = new HashMap<>();
    for (List<EngineState> ranks : table().engines()) {
      List<CacheWorth> known = ranks.stream().map(found::get).filter(Objects::nonNull).toList();
      if (known.size() == ranks.size()) {
        seconds.put(
            ranks.get(0).replica().name(), known.stream().mapToDouble(CacheWorth::seconds).sum());
      }
    }
    return seconds;
  }

  /**
   * Finds out what would be lost with each engine that is trusted to have told all it holds, for
   * reports from then on. Looks at all of the index, so it is for a thread of its own, now and
   * then.
   */
  public void appraise() {
    long[] soleBlocks = index.soleBlocks();
    Map<EngineState, CacheWorth> found = new HashMap<>();
    Map<String, List<EngineState>> byModel = new TreeMap<>();
    for (EngineState engine : engines()) {
      engine
          .replica()
          .models()
          .forEach(model -> byModel.computeIfAbsent(model, one -> new ArrayList<>()).add(engine));
      EngineView view = engineEvents.view(engine.replica(), engine.dpRank());
      ChainSpace space = view.space();
      if (view.trust() == Trust.EXACT
          && space != null
          && view.slot() >= 0
          && view.slot() < soleBlocks.length) {
        long tokens = soleBlocks[view.slot()] * space.blockSizeTokens();
        double chance = reuseChance(engine);
        double millis = engine.learned().cost().millisPerToken();
        found.put(engine, new CacheWorth(tokens, chance, tokens * chance * millis / 1e3));
      }
    }
    worths = found;
    Map<String, ScalingSignal> signals = new TreeMap<>();
    byModel.forEach((model, serving) -> signals.put(model, scalingSignal(model, serving)));
    scalingSignals = signals;
  }

  /** A policy that knows nothing of the engine says 1, and so does not count. */
  private double reuseChance(EngineState engine) {
    ModelPolicies now = policies;
    Set<String> models = engine.replica().models();
    return (models.isEmpty() ? Stream.of(now.usual()) : models.stream().map(now::of))
        .distinct()
        .mapToDouble(policy -> policy.reuseChance(engine.number(), nanos()))
        .min()
        .orElse(1);
  }

  /**
   * Whether a model has too few replicas, or too many.
   *
   * @param oneMore what one replica more would do to the share of prompt tokens that are cached
   * @param oneFewer what one fewer would do
   */
  private record ScalingSignal(double oneMore, double oneFewer, double kneeHeadroom) {}

  private ScalingSignal scalingSignal(String model, List<EngineState> serving) {
    Policy policy = policies.of(model);
    int[] numbers = serving.stream().mapToInt(EngineState::number).toArray();
    double replicas = serving.stream().map(EngineState::replica).distinct().count();
    double more = policy.hitRateChange(numbers, (replicas + 1) / replicas, nanos());
    double fewer =
        replicas == 1
            ? Double.NaN
            : policy.hitRateChange(numbers, (replicas - 1) / replicas, nanos());
    return new ScalingSignal(more, fewer, kneeHeadroom(serving));
  }

  /** The head-room to the knee of all engines together, whatever they serve. */
  public double kneeHeadroom() {
    return kneeHeadroom(engines());
  }

  private double kneeHeadroom(Collection<EngineState> serving) {
    List<EngineState> computing =
        serving.stream()
            .filter(engine -> engine.replica().transfer().role() != KvTransfer.Role.DECODE)
            .toList();
    long nowNanos = nanos();
    long ready =
        computing.stream()
            .filter(engine ->
                engine.replica().isWell()
                    && !engine.replica().draining()
                    && !engine.isEjected(nowNanos))
            .count();
    return PromptUsage.kneeHeadroom(
        computing.stream().map(EngineState::usage).toList(), (int) ready, nowNanos);
  }

  /** How the queue, the policies, the replicas and the engines stand, for a scrape. */
  public void collect(MetricValues to) {
    to.add(Metric.QUEUE_REQUESTS, queued());
    to.add(Metric.QUEUE_HELD_REQUESTS, held());
    to.add(Metric.QUEUE_LIMIT, queueLimit());
    Map<String, Double> shares = new TreeMap<>(); // of two of one name the fuller one counts
    policies.all().forEach(policy -> shares.merge(policy.name(), policy.memoryShare(), Math::max));
    shares.forEach((name, share) -> to.add(Metric.POLICY_MEMORY_SHARE, share, name));
    fleet.replicas().forEach(replica -> replica.collect(to, replicaRequests()));
    to.add(Metric.MODELS_WITHOUT_REPLICA, fleet.modelsWithoutReplica().size());
    List<EngineReport> engines = report();
    engines.forEach(engine -> engine.collect(to));
    Set<Replica> unpaired = EngineReport.unpaired(engines);
    for (Replica replica : fleet.replicas()) {
      if (replica.transfer().role() != KvTransfer.Role.BOTH) {
        to.add(Metric.REPLICA_UNPAIRED, unpaired.contains(replica) ? 1 : 0, replica.name());
      }
    }
    scalingSignals.forEach((model, signal) -> {
      addIfKnown(to, Metric.HIT_RATE_CHANGE, signal.oneMore, model, "one_more");
      addIfKnown(to, Metric.HIT_RATE_CHANGE, signal.oneFewer, model, "one_fewer");
      addIfKnown(to, Metric.KNEE_HEADROOM, signal.kneeHeadroom, model);
    });
    to.add(Metric.PROMPT_HISTORY_SHARE, history.memoryShare());
    to.add(Metric.PREFIX_TOKENS_SHARE, prefixes.tokenShare());
    ratios
        .byModel(nanos())
        .forEach((model, ratio) -> to.add(Metric.ADVISED_PREFILL_RATIO, ratio, model));
  }

  private static void addIfKnown(MetricValues to, Metric metric, double value, String... labels) {
    if (!Double.isNaN(value)) {
      to.add(metric, value, labels);
    }
  }

  /** The engines of the fleet as it is now; those of replicas that left are let go of. */
  private EngineTable table() {
    EngineTable known = table;
    return known.isOf(fleet.replicas()) ? known : refreshed();
  }

  private synchronized EngineTable refreshed() {
    List<Replica> now = fleet.replicas();
    if (!table.isOf(now)) {
      table = table.of(now, limits.expectedBlocks(), environment.metrics());
      history.engines(table.byNumber().size());
    }
    return table;
  }

  AnswerModel answers() {
    return answers;
  }

  Evictions evictions() {
    return evictions;
  }

  PromptHistory history() {
    return history;
  }

  /** The prefixes that engines reused. */
  public HotPrefixes prefixes() {
    return prefixes;
  }

  PrefillRatio ratios() {
    return ratios;
  }

  long nanos() {
    return environment.nanoClock().getAsLong();
  }

  public EngineEvents engineEvents() {
    return engineEvents;
  }

  List<DispatchListener> listeners() {
    return listeners;
  }

  /** From now on this one hears what happens, too, after those before it. */
  public synchronized void listen(DispatchListener listener) {
    List<DispatchListener> all = new ArrayList<>(listeners);
    all.add(listener);
    listeners = List.copyOf(all);
  }
}
