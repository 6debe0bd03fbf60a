package dev.warmpath.router.fleet;

import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.router.fleet.PrefillModel.PrefillPeriod;
import dev.warmpath.router.metrics.Metrics;
import dev.warmpath.router.routing.Candidates;
import dev.warmpath.router.routing.DecodeCost;
import dev.warmpath.router.routing.Load;
import dev.warmpath.router.routing.PrefillCost;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * All that the router remembers of one engine while its replica is in the fleet: load, expected
 * blocks, speed, failures.
 *
 * <p>Thread-safe: each method holds the engine's lock, and none takes longer for a longer prompt.
 */
public final class EngineState {

  /**
   * The state at one moment.
   *
   * @param plannedTokens that the router wants computed there and has not sent, beside the load
   * @param prefillSamples requests from which {@code prefillCost} was learned
   * @param decodeSamples streams from which {@code decodeCost} was learned
   * @param ejected whether it failed too often just now to be taken
   * @param circuit whether it gets requests after its failures
   * @param isResting whether it only asked for rest ({@code Retry-After})
   * @param refusing whether it is ejected because it answers every request with 503
   * @param problem why it gets no requests as usual, for operators; null if it does
   */
  public record Snapshot(
      Load load,
      long plannedTokens,
      ExpectedBlocks.Counts expectedBlocks,
      PrefillCost prefillCost,
      long prefillSamples,
      DecodeCost decodeCost,
      long decodeSamples,
      boolean ejected,
      Ejection.Circuit circuit,
      boolean isResting,
      boolean refusing,
      @Nullable String problem) {}

  /** Whether something that requests ask of an engine comes to pass there. */
  private static final class Obedience {
    private static final int MOST_IGNORED = 3;

    /** For so long it is not asked again: another process may be there then. */
    private static final long REST_NANOS = TimeUnit.MINUTES.toNanos(10);

    private boolean isProven;
    private int ignored;
    private long sinceNanos = Long.MIN_VALUE;

    boolean isAsked(long nowNanos) {
      return sinceNanos == Long.MIN_VALUE || nowNanos - sinceNanos > REST_NANOS;
    }

    void answered(boolean isIgnored, long nowNanos) {
      isProven |= !isIgnored;
      ignored = isIgnored ? ignored + 1 : 0;
      if (ignored >= MOST_IGNORED) {
        isProven = false;
        sinceNanos = nowNanos;
        ignored = 0;
      }
    }
  }

  /** The part of an answer's time after its last token that does not matter. */
  private static final double MOST_TAIL = 0.1;

  private final Replica replica;
  private final int dpRank;
  private final int number;
  private final String name;
  private final EngineMeters meters;
  private final EngineLoad load = new EngineLoad();
  private PromptUsage usage = PromptUsage.NONE;
  private final PrefillModel prefill = new PrefillModel();
  private final DecodeModel decode = new DecodeModel();
  private final TransferModel transfers = new TransferModel();

  private final LoadQueue loads = new LoadQueue();
  private final Obedience caps = new Obedience();
  private final Obedience pulls = new Obedience();
  private final Obedience handsOut = new Obedience();
  private final LoadQueue.HandOuts handOuts = new LoadQueue.HandOuts();
  private int pullsUnderWay;

  /** When a prompt was last seen to be computed. */
  private long computedNanos = Long.MIN_VALUE / 2;

  private final Ejection ejection = new Ejection();
  private final ExpectedBlocks expected;
  private long lastTurn = Candidates.NEVER;
  private volatile long respondedNanos = Long.MIN_VALUE;
  private volatile boolean keepsEvicted;

  /**
   * @param number stands for it in what policies remember; never reused
   */
  public EngineState(
      Replica replica, int dpRank, int number, ExpectedBlocks.Limits limits, Metrics metrics) {
    this.replica = replica;
    this.dpRank = dpRank;
    this.number = number;
    this.name = name(replica, dpRank);
    this.meters = new EngineMeters(replica, name, metrics);
    this.expected = new ExpectedBlocks(limits);
  }

  /** How a replica's engine is called: by its name, with the rank behind it if it has several. */
  public static String name(Replica replica, int dpRank) {
    return replica.ranks() == 1 ? replica.name() : replica.name() + "/" + dpRank;
  }

  public Replica replica() {
    return replica;
  }

  /** Stands for it in what policies remember; never reused. */
  public int number() {
    return number;
  }

  public int dpRank() {
    return dpRank;
  }

  /** The replica's name, with the rank behind it if it has several. */
  public String name() {
    return name;
  }

  /** What is counted of its requests. */
  public EngineMeters meters() {
    return meters;
  }

  /**
   * What of an engine's state no column of the candidates has; used again for the next engine.
   *
   * <p>Confined to one thread.
   */
  public static final class SelectionState {
    private boolean ejected;
    private int expectedBlocks;
    private boolean capsLoads;
    private boolean keepsEvicted;

    /** Whether it should get nothing now if there is another engine. */
    public boolean ejected() {
      return ejected;
    }

    /** Leading blocks of the prompt that are held or on their way. */
    public int expectedBlocks() {
      return expectedBlocks;
    }

    /** Whether it has had parts of prompts in slower memory only. */
    public boolean keepsEvicted() {
      return keepsEvicted;
    }

    /** Whether a request can say how much of its prompt is read back. */
    public boolean capsLoads() {
      return capsLoads;
    }
  }

  /**
   * Adds the engine to the candidates of a request, with its load.
   *
   * @param chain the prompt's blocks, or null if they do not matter
   * @param heldBlocks how many of them are held
   * @param state is told the rest
   */
  public synchronized void fillCandidate(
      Candidates candidates,
      @Nullable BlockChain chain,
      int heldBlocks,
      long nowNanos,
      SelectionState state) {
    state.ejected = ejection.isEjected(nowNanos);
    state.keepsEvicted = keepsEvicted;
    state.expectedBlocks = chain == null ? 0 : expected.depth(chain, heldBlocks, nowNanos);
    candidates.add(name, number, prefill.cost(), lastTurn).decoding(decode.cost());
    load.addTo(candidates, nowNanos);
    state.capsLoads = replica.transfer().capsLoads() && caps.isAsked(nowNanos);
  }

  /** What it hands out to others. */
  LoadQueue.HandOuts handOuts() {
    return handOuts;
  }

  /** A part of a prompt was seen in its slower memory only. */
  public void findsEvicted() {
    keepsEvicted = true;
  }

  /**
   * What it costs beyond the prompts that are computed there anyway to load these: their wait, and
   * that of those who come behind them, which are about as many as wait now. What another engine
   * holds waits for what that one hands out before.
   */
  public synchronized double loadMillis(
      LoadedTokens loaded, double prefillBacklogMillis, long nowNanos) {
    double millis = loads.millis(loaded, nowNanos);
    double backlog = loads.backlogMillis(nowNanos);
    int waiting = loads.waiting(nowNanos);
    if (loaded.from() != null) {
      backlog = Math.max(backlog, loaded.from().handOuts.backlogMillis(nowNanos));
      waiting += loaded.from().handOuts.waiting(nowNanos);
    }
    return Math.max(0, backlog + millis - prefillBacklogMillis) + waiting * millis;
  }

  /**
   * Whether what other engines hold may come here: one at a time until one came, for a request
   * waits long for an engine that cannot be reached.
   */
  public synchronized boolean mayPull(long nowNanos) {
    return pulls.isAsked(nowNanos) && (pulls.isProven || pullsUnderWay == 0);
  }

  /** Whether what is held here may go to other engines. */
  public synchronized boolean mayBePulled(long nowNanos) {
    return handsOut.isAsked(nowNanos) && (handsOut.isProven || handOuts.waiting(nowNanos) == 0);
  }

  /**
   * A request was answered that should pull from another engine.
   *
   * @param ignored whether nothing came
   */
  public synchronized void pulled(boolean ignored, long nowNanos) {
    pulls.answered(ignored, nowNanos);
  }

  /** The same, where it should be handed out. */
  public synchronized void handedOut(boolean ignored, long nowNanos) {
    handsOut.answered(ignored, nowNanos);
  }

  /**
   * A request that should read nothing back from slower memory was answered. If others were under
   * way when it was sent it says nothing: they may have brought that to the GPU.
   *
   * @param ignored whether it did all the same
   */
  public synchronized void capped(Reservation reservation, boolean ignored, long nowNanos) {
    if (reservation.alone) {
      caps.answered(ignored, nowNanos);
    }
  }

  /**
   * Takes load and expected blocks for a request that is about to be sent.
   *
   * @param stillValid has the last word, under the engine's lock: if false, nothing is taken
   * @param turn when the engine is chosen
   * @return null if nothing was taken
   */
  public synchronized @Nullable Reservation reserve(
      BooleanSupplier stillValid, Demand demand, long turn, long nowNanos) {
    if (!stillValid.getAsBoolean()) {
      return null;
    }
    lastTurn = turn;
    int uncached = Math.max(0, demand.promptTokens() - demand.creditTokens());
    long micros = Math.round(1000 * prefill.cost().millis(uncached, demand.promptTokens()));
    EngineLoad.Share share =
        demand.part() == Part.ANSWER
            ? EngineLoad.Share.computedElsewhere(demand.promptTokens())
            : new EngineLoad.Share(
                uncached, micros, demand.promptTokens(), demand.streamed(), demand.chain() != null);
    boolean isAlone = load.requests() == 0;
    LoadQueue.Load loading = demand.loaded().count() > 0 ? load(demand, nowNanos) : null;
    pullsUnderWay += demand.pulls() ? 1 : 0;
    if (loading != null && loading.millis() > share.prefillMicros / 1e3) {
      share = share.unqueued(); // others are computed while it waits
    }
    load.add(share, nowNanos);
    BlockChain chain = demand.chain();
    ClaimTable.Claim claim =
        chain == null ? null : expected.claim(chain, demand.heldBlocks(), nowNanos);
    Reservation taken =
        new Reservation(share, loading, claim, ejection.chosen(), nowNanos, demand, turn);
    use(taken);
    taken.alone = isAlone;
    if (demand.part() == Part.ANSWER) {
      taken.answered = true; // nothing is sent there yet, so it owes no answer
      replica.booked(dpRank, 1);
    } else {
      replica.began(dpRank, nowNanos);
    }
    return taken;
  }

  private LoadQueue.Load load(Demand demand, long nowNanos) {
    return loads.add(demand.loaded(), demand.streamed(), load.backlogMillis(nowNanos), nowNanos);
  }

  /**
   * Takes the same for a request that another router has sent. What becomes of it is that router's
   * to judge: it shows nothing of this engine's health here.
   *
   * @return to be told {@link #firstToken} and {@link #release}
   */
  public synchronized Reservation book(Booking booking, long nowNanos) {
    int uncached = booking.uncachedTokens();
    long micros = Math.round(1000 * prefill.cost().millis(uncached, booking.promptTokens()));
    PromptMarks marks = booking.marks();
    EngineLoad.Share share =
        uncached == 0
            ? EngineLoad.Share.computedElsewhere(booking.promptTokens())
            : new EngineLoad.Share(
                uncached, micros, booking.promptTokens(), booking.streamed(), booking.known());
    load.add(share, nowNanos);
    replica.booked(dpRank, 1);
    ClaimTable.Claim claim = marks == null ? null : expected.claim(marks, nowNanos);
    Reservation booked = new Reservation(share, null, claim, false, nowNanos, null, booking.id());
    use(booked);
    return booked;
  }

  private void use(Reservation reservation) {
    reservation.used = true;
    usage = usage.with(reservation.prefillMillis(), reservation.sinceNanos);
  }

  private void giveBackUnlessComputed(Reservation reservation, boolean computed) {
    if (reservation.used && !computed) {
      usage = usage.without(reservation.prefillMillis(), reservation.sinceNanos);
    }
  }

  /**
   * Takes the same for a prefix that the router wants computed there, and judges as little.
   *
   * @param heldBlocks of these the engine holds so many
   * @return to be told {@link #firstToken} and {@link #release}
   */
  public synchronized Reservation prewarm(BlockChain prefix, int heldBlocks, long nowNanos) {
    int blockTokens = prefix.space().blockSizeTokens();
    int tokens = prefix.blocks() * blockTokens;
    int uncached = tokens - heldBlocks * blockTokens;
    long micros = Math.round(1000 * prefill.cost().millis(uncached, tokens));
    EngineLoad.Share share = new EngineLoad.Share(uncached, micros, tokens, true, true);
    load.add(share, nowNanos);
    replica.booked(dpRank, 1);
    ClaimTable.Claim claim = expected.claim(prefix, heldBlocks, nowNanos);
    return new Reservation(share, null, claim, false, nowNanos, null, 0);
  }

  /**
   * The router wants so many tokens computed there, and has not sent them yet.
   *
   * @param mostMillis it will not send more than takes so long
   */
  public synchronized void plan(long tokens, double mostMillis) {
    load.plan(tokens, Math.min(tokens * prefill.cost().millisPerToken(), mostMillis));
  }

  /**
   * Whether something is in flight there.
   *
   * @param prewarms whether one prefix is that the router wants computed, which does not count
   */
  public synchronized boolean worksForClients(boolean prewarms) {
    return load.requests() > (prewarms ? 1 : 0) || worksForOthers();
  }

  /**
   * What the router, or another one, had computed there is over, or that router is gone.
   *
   * @param computed whether its prompt was computed, as far as is known
   */
  public synchronized void release(Reservation booked, boolean computed, long nowNanos) {
    if (!booked.over) {
      booked.over = true;
      giveBackUnlessComputed(booked, computed || isPrefilled(booked, nowNanos));
      load.remove(booked.share, nowNanos);
      replica.booked(dpRank, -1);
      endClaim(booked, computed, nowNanos);
    }
  }

  /**
   * What a request needs of its engine.
   *
   * @param promptTokens how long its prompt is, or may be
   * @param creditTokens how many of these are probably cached
   * @param chain the prompt's blocks in the engine's space, null if its tokens are not known
   * @param heldBlocks leading blocks that the index shows there
   * @param loaded what it loads
   * @param streamed whether its response will show when the prompt is computed
   * @param part what of it
   */
  public record Demand(
      int promptTokens,
      int creditTokens,
      @Nullable BlockChain chain,
      int heldBlocks,
      LoadedTokens loaded,
      boolean streamed,
      Part part) {

    private boolean pulls() {
      return loaded.pulled() > 0;
    }
  }

  /** What of a request an engine does. */
  public enum Part {
    WHOLE,
    /** It computes the prompt for another one. */
    PROMPT,
    /** It answers a prompt that another one computes, whose blocks come here. */
    ANSWER
  }

  /** A byte of a response of it came, if only to refuse the request as wrong (4xx). */
  public void responded(long nowNanos) {
    respondedNanos = nowNanos;
    replica.responded(nowNanos);
  }

  /** It began an answer, if only to refuse the request as wrong: it is alive. */
  public synchronized void answered(Reservation reservation) {
    if (!reservation.over) {
      markAnswered(reservation);
      ejection.answered();
    }
  }

  private void markAnswered(Reservation reservation) {
    if (!reservation.answered) {
      reservation.answered = true;
      replica.answered();
    }
  }

  /** It asked for so much time without requests. */
  public synchronized void rest(int seconds, long nowNanos) {
    ejection.rest(seconds, nowNanos);
  }

  /** Whether the request is over. */
  public synchronized boolean isOver(Reservation reservation) {
    return reservation.over;
  }

  /**
   * A stream brought its first content: the prompt has been computed.
   *
   * @return false if that was known, or the request is over
   */
  public synchronized boolean firstToken(Reservation reservation, long nowNanos) {
    if (reservation.over || reservation.firstToken) {
      return false;
    }
    reservation.firstToken = true;
    reservation.firstTokenNanos = nowNanos;
    if (reservation.load != null) {
      PrefillModel.Speed speed = prefill.speed();
      double computing = reservation.prefillMillis() + speed.overheadMillis();
      loads.over(reservation.load, computing, computedNanos, nowNanos);
    }
    computedNanos = nowNanos;
    load.prefilled(reservation.share, nowNanos);
    reservation.firstContextTokenMillis = load.contextTokenMillis(nowNanos);
    reservation.firstComputedMicros = load.computedMicros(nowNanos);
    reservation.firstUntimed = load.untimed();
    reservation.amongOthers = worksForOthers();
    PrefillPeriod.Sample sample = load.takeSample();
    if (sample != null) {
      prefill.observe(sample);
    }
    return true;
  }

  /**
   * The request is over, once: gives back what is held for it.
   *
   * @return false if it was over before
   */
  public synchronized boolean end(Reservation reservation, Outcome outcome, long nowNanos) {
    if (reservation.over) {
      return false;
    }
    reservation.over = true;
    boolean prefilled = isPrefilled(reservation, nowNanos);
    load.remove(reservation.share, nowNanos);
    if (reservation.load != null) {
      loads.remove(reservation.load, nowNanos);
    }
    pullsUnderWay -= reservation.demand != null && reservation.demand.pulls() ? 1 : 0;
    markAnswered(reservation);
    replica.ended(dpRank);
    boolean completed = outcome == Outcome.COMPLETED;
    giveBackUnlessComputed(reservation, completed || prefilled);
    endClaim(reservation, completed || (prefilled && outcome == Outcome.CANCELLED), nowNanos);
    if (completed) {
      ejection.answered();
    } else if (outcome == Outcome.FAILED) {
      ejection.failed(nowNanos);
    } else if (outcome == Outcome.UNAVAILABLE) {
      boolean busy = replica.reportedLoad(dpRank).running() > 0;
      ejection.unavailable(busy, respondedNanos, nowNanos);
    } else if (reservation.probe) {
      ejection.probeEnded();
    }
    return true;
  }

  private boolean isPrefilled(Reservation reservation, long nowNanos) {
    return reservation.share.computed
        ? reservation.firstToken
        : !load.isQueued(reservation.share, nowNanos);
  }

  /** How much of its time the prompts of clients have taken lately. */
  public synchronized PromptUsage usage() {
    return usage;
  }

  /** For what share of the last 20 s or so it computed prompts, 0 to 0.95. */
  public synchronized double prefillShare(long nowNanos) {
    return load.prefillShare(nowNanos);
  }

  /**
   * A request that was completed here shows how long answers take.
   *
   * @param steps that it took from the first token to {@code lastNanos}; 0 if they are not known
   * @param lastNanos when its last token came
   */
  public synchronized void teach(
      AnswerModel model, Reservation reservation, int steps, long lastNanos, long nowNanos) {
    EngineState.Demand own = reservation.demand;
    if (reservation.firstToken && own != null && own.part() != Part.PROMPT) {
      double millis = (nowNanos - reservation.firstTokenNanos) / 1e6;
      double decoding = (lastNanos - reservation.firstTokenNanos) / 1e6;
      boolean isSeen =
          reservation.firstUntimed == load.untimed()
              && !reservation.amongOthers
              && !worksForOthers();
      if (steps > 0 && isSeen && decoding > millis * (1 - MOST_TAIL)) {
        double context = load.contextTokenMillis(nowNanos) - reservation.firstContextTokenMillis;
        double prompts = (load.computedMicros(nowNanos) - reservation.firstComputedMicros) / 1e3;
        decode.observe(decoding, steps, context / millis, prompts);
      }
      model.observe(millis, load.prefillShare(nowNanos), decode.cost(), load.contextTokens());
    }
  }

  private boolean worksForOthers() {
    return replica.otherLoad(dpRank).requests() > 0;
  }

  /**
   * An answer's part of its steps, in milliseconds, while its memory is full of such requests.
   *
   * @param contextTokens of the request, on average over its answer
   * @param capacityTokens that its memory holds; 0 if it is not known
   */
  public synchronized double fullMillis(int answerTokens, int contextTokens, long capacityTokens) {
    return AnswerModel.fullMillis(decode.cost(), answerTokens, contextTokens, capacityTokens);
  }

  /** What it costs to bring KV blocks of another engine here. */
  public synchronized TransferCost transferCost(EngineState from) {
    return transfers.cost(from.number);
  }

  /** So many tokens of another engine's KV blocks took so long until they could be used here. */
  public synchronized void transferred(EngineState from, int tokens, double millis) {
    transfers.observe(from.number, tokens, millis);
  }

  /** What was learned of its speed. */
  public synchronized PrefillModel.Speed learned() {
    return prefill.speed();
  }

  /** Whether it should get nothing now if there is another engine. */
  public synchronized boolean isEjected(long nowNanos) {
    return ejection.isEjected(nowNanos);
  }

  /** For so long it gets no requests, after what was seen here; 0 if it may. */
  public synchronized long ejectedNanos(long nowNanos) {
    return ejection.ejectedNanos(nowNanos);
  }

  /** Another router has seen this of it. */
  public synchronized void seenElsewhere(
      PrefillModel.Speed speed, long ejectedNanos, long nowNanos) {
    prefill.adopt(speed);
    ejection.ejectedElsewhere(ejectedNanos, nowNanos);
  }

  /** Another router that had seen it fail has an answer of it. */
  public synchronized void answeredElsewhere() {
    ejection.answeredElsewhere();
  }

  private void endClaim(Reservation reservation, boolean computed, long nowNanos) {
    if (reservation.claim == null) {
      return;
    }
    if (computed) {
      expected.settle(reservation.claim, nowNanos);
    } else {
      expected.cancel(reservation.claim);
    }
  }

  /** The state now. */
  public synchronized Snapshot snapshot(long nowNanos) {
    return new Snapshot(
        load.snapshot(nowNanos),
        load.plannedTokens(),
        expected.counts(nowNanos),
        prefill.cost(),
        prefill.samples(),
        decode.cost(),
        decode.samples(),
        ejection.isEjected(nowNanos),
        ejection.circuit(nowNanos),
        ejection.onlyRests(),
        ejection.isRefusing(),
        ejection.problem(nowNanos));
  }
}
