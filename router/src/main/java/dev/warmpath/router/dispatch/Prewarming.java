package dev.warmpath.router.dispatch;

import dev.warmpath.eventingest.EngineView;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.router.fleet.EngineState;
import dev.warmpath.router.fleet.HotPrefixes;
import dev.warmpath.router.fleet.KvTransfer;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.fleet.Reservation;
import dev.warmpath.router.fleet.SharedPrefix;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Lets an engine that lacks them compute the prefixes that many sessions share, the most wanted
 * first, while it has nothing else to do: one that joins, one that has lost its cache, or one of
 * which an operator asks it.
 *
 * <p>It is told of time by {@link #look}, and of the requests of clients as a {@link
 * DispatchListener}.
 *
 * <p>Thread-safe.
 */
public final class Prewarming implements DispatchListener {

  /*
   * One prefix at a time is computed, and only while nothing else is in flight at the engine. When a
   * request comes, whoever sent it, the one under way is broken off: engines keep the blocks that
   * are computed until then. It goes on when the engine is idle again, until the time for computing
   * is spent, or the time for all of it is over. It never takes a place from one that waits.
   *
   * What is under way is load like a request of another router: policies see it, its blocks are
   * expected there, and how long it takes shows the engine's speed; nothing of it counts as traffic.
   * What is left of the plan is load, too, as long as no request came: so a new engine is chosen
   * before that is done only by requests that would wait for longer elsewhere, and takes its share
   * as the plan gets shorter. Policies that do not look at the prompts that wait see one request.
   *
   * An engine that has stored nothing yet has said nothing either: it gets the first prefix if its
   * events will be heard, and the next ones when they are exact.
   *
   * An engine that was not there before, or has lost its cache since, is a newcomer until it is well
   * and its events are exact. What is wanted there is load from the first look on. It is to other
   * routers of the cluster, too: for them it gets less as the index shows it held, until a request
   * of theirs comes. They leave an engine a newcomer for a minute, and one of them that becomes the
   * first within that begins; what the former first has computed is held, and left out.
   *
   * Requests are told of assignments while the queue is locked. So the lock here is held for no
   * longer than it takes to note something, and nothing else is called that locks, but engines for
   * their load. What may take long, sends, logs or may call back is put on a list meanwhile, and
   * done when the lock is free: `after`. A prefix is noted as under way before what is held of it is
   * looked up, so it can be broken off before it is sent.
   */

  /** From the first prefix on; what is not computed by then is left out. */
  static final long MOST_NANOS = TimeUnit.MINUTES.toNanos(1);

  /** Of an engine's cache: what sessions do not share needs room, too. */
  private static final double MOST_SHARE = 0.5;

  /** Where it is not known how much the cache holds. */
  private static final long MOST_TOKENS = 1 << 20;

  /** Requests do not keep off a newcomer for longer that is well, until its events are exact. */
  private static final long EVENTS_NANOS = TimeUnit.SECONDS.toNanos(2);

  /** Between two tries at an engine that works for others, or is busy; twice as long each time. */
  private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** A token of the prompt behind the prefix, and one of the answer. */
  private static final int TOKENS_BEHIND = 2;

  /** An engine that refuses so many in a row is asked no more. */
  private static final int MOST_REFUSED = 2;

  /** Lets engines compute prefixes. */
  public interface Sender {
    /**
     * Lets an engine compute a prefix, and answer with no more than a token.
     *
     * @param done is told once, on any thread, maybe before this returns
     * @return breaks it off, after which nobody waits for {@code done}
     */
    Runnable send(EngineState engine, SharedPrefix prefix, Consumer<Answer> done);

    /** It begins at an engine. */
    default void began(EngineState engine, Status status) {}

    /** It is over there. */
    default void ended(EngineState engine, Status status) {}
  }

  /** What came of one prefix. */
  public enum Result {
    COMPUTED,
    /** A request came. */
    BROKEN_OFF,
    /** The engine answered that it has no room now. */
    BUSY,
    /** The engine answered that it does not want it. */
    REFUSED,
    FAILED;

    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * What an engine answered.
   *
   * @param computedTokens so many of the prompt's it computed; below 0 if it does not tell
   * @param problem why it did not compute the prefix, for operators; null if it did
   */
  public record Answer(Result result, int computedTokens, @Nullable String problem) {

    /** It says only that it has computed it. */
    public static final Answer COMPUTED = new Answer(Result.COMPUTED, -1, null);
  }

  /** How it stands at one engine. */
  public enum State {
    RUNNING,
    DONE,
    /** It may not compute for longer. */
    SPENT,
    /** It was hardly ever idle. */
    LATE,
    REFUSED,
    FAILED,
    /** It is down, its cache is in doubt, or it has left. */
    GONE,
    /** Nothing that sessions share is known of its models. */
    NOTHING_SHARED,
    /** Nobody can tell what it holds. */
    NOT_EXACT,
    NOT_WELL,
    /** Other engines compute its prompts. */
    DECODES,
    /** It computes prompts for others, and may not take one that is for itself. */
    PREFILLS,
    /** The tokens of prompts are not kept. */
    OFF;

    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * How it stands, or ended.
   *
   * @param prefixes that were wanted there
   * @param tooLong shared ones beside these, longer than prompts of their models may be there
   * @param computed of these, by this
   * @param tokens that were computed
   * @param millis which that took
   * @param problem why the engine did not compute one that it was asked for; null if it always did
   */
  public record Status(
      State state,
      int prefixes,
      int tooLong,
      int computed,
      long tokens,
      long millis,
      @Nullable String problem) {

    static Status not(State why, int tooLong) {
      return new Status(why, 0, tooLong, 0, 0, 0, null);
    }
  }

  private final Dispatcher dispatcher;
  private final KvIndex index;
  private final Sender sender;
  private final LongSupplier computeMillis;
  private final boolean onlyKnown;
  private final Map<EngineState, Newcomer> seen = new HashMap<>();
  private final Map<EngineState, Status> ended = new HashMap<>();
  private final Map<EngineState, Run> runs = new ConcurrentHashMap<>();
  private boolean closed;

  /** An engine, and how often it had lost its cache when it was looked at. */
  private static final class Newcomer {
    private long losses;
    private boolean isPending = true;

    /** What it should hold, without the tokens; null until that was asked. */
    private @Nullable List<SharedPrefix> wanted;

    private long wellNanos = Long.MIN_VALUE;

    private Newcomer(long losses) {
      this.losses = losses;
    }
  }

  private static final class Run {
    private final EngineState engine;
    private final Deque<SharedPrefix> left;
    private final int prefixes;
    private final int tooLong;
    private final long sinceNanos;
    private boolean holdsBack;
    private @Nullable Sent sent;
    private int computed;
    private int refusedInARow;
    private long tokens;
    private long spentNanos;
    private long pauseNanos = PAUSE_NANOS;
    private long pausedUntilNanos;
    private @Nullable String problem;

    private Run(EngineState engine, HotPrefixes.Shared wanted, long nowNanos) {
      this.engine = engine;
      this.left = new ArrayDeque<>(wanted.prefixes());
      this.prefixes = wanted.prefixes().size();
      this.tooLong = wanted.tooLong();
      this.sinceNanos = nowNanos;
      this.pausedUntilNanos = nowNanos;
    }

    private Status status(State state) {
      long millis = TimeUnit.NANOSECONDS.toMillis(spentNanos);
      return new Status(state, prefixes, tooLong, computed, tokens, millis, problem);
    }

    private void pause(long nowNanos) {
      pausedUntilNanos = nowNanos + pauseNanos;
      pauseNanos *= 2;
    }
  }

  /** A prefix under way, or about to be. */
  private static final class Sent {
    private final SharedPrefix prefix;
    private @Nullable Reservation reservation;
    private int tokens;
    private @Nullable Runnable breakOff;

    private Sent(SharedPrefix prefix) {
      this.prefix = prefix;
    }
  }

  /**
   * @param computeMillis how long an engine may compute prefixes, all together, as it is now; 0:
   *     none does
   * @param onlyKnown whether prefixes are of no use without their tokens
   */
  public Prewarming(
      Dispatcher dispatcher,
      KvIndex index,
      Sender sender,
      LongSupplier computeMillis,
      boolean onlyKnown) {
    this.dispatcher = dispatcher;
    this.index = index;
    this.sender = sender;
    this.computeMillis = computeMillis;
    this.onlyKnown = onlyKnown;
  }

  /** A request was given to an engine: what is under way there is broken off. */
  @Override
  public void assigned(PreparedRequest request, Assignment assignment) {
    Run run = runs.get(assignment.engineState());
    if (run != null) {
      List<Runnable> after = new ArrayList<>();
      synchronized (this) {
        breakOff(run, after);
      }
      after.forEach(Runnable::run);
    }
  }

  /** Whether an engine computes prefixes, or a newcomer is waited for. */
  public synchronized boolean isUnderWay() {
    return !runs.isEmpty() || seen.values().stream().anyMatch(newcomer -> newcomer.isPending);
  }

  /**
   * Time has passed, or the fleet has changed. To be called a few times a second while {@link
   * #isUnderWay}, else now and then: a lost cache is noticed then.
   */
  public void look() {
    look(true);
  }

  /**
   * The same.
   *
   * @param mayBegin whether newcomers are this router's to see to
   */
  public void look(boolean mayBegin) {
    List<Runnable> after = new ArrayList<>();
    boolean isWaitedFor = isWaitedFor();
    synchronized (this) {
      if (closed) {
        return;
      }
      long now = dispatcher.nanos();
      seen.keySet().removeIf(engine -> engine.replica().isGone());
      ended.keySet().removeIf(engine -> engine.replica().isGone());
      for (EngineState engine : dispatcher.engines()) {
        long losses = dispatcher.engineEvents().losses(engine.replica(), engine.dpRank());
        Newcomer newcomer = seen.computeIfAbsent(engine, one -> new Newcomer(losses));
        if (newcomer.losses != losses) {
          newcomer.losses = losses;
          newcomer.isPending = true;
          newcomer.wanted = null;
          newcomer.wellNanos = Long.MIN_VALUE;
        }
        if (newcomer.isPending) {
          look(engine, newcomer, mayBegin, now, after);
        }
      }
      runs.values().forEach(run -> look(run, isWaitedFor, now, after));
    }
    after.forEach(Runnable::run);
  }

  private boolean isWaitedFor() {
    return dispatcher.queued() > dispatcher.held();
  }

  private void look(
      EngineState engine,
      Newcomer newcomer,
      boolean mayBegin,
      long nowNanos,
      List<Runnable> after) {
    Replica replica = engine.replica();
    boolean isWell = replica.isWell();
    boolean isReady = isWell && replica.namesModels() && (isExact(engine) || isNew(engine));
    if (mostMillis() == 0 || (isReady && mayBegin)) {
      newcomer.isPending = false;
      newcomer.wanted = null;
      plan(engine, List.of());
      if (mostMillis() > 0) {
        after.add(() -> begin(engine));
      }
      return;
    }
    if (!isWell) {
      newcomer.wellNanos = Long.MIN_VALUE;
    } else if (newcomer.wellNanos == Long.MIN_VALUE) {
      newcomer.wellNanos = nowNanos;
    }
    long wellNanos = isWell ? nowNanos - newcomer.wellNanos : 0;
    newcomer.isPending = wellNanos < MOST_NANOS;
    if (mayBegin ? wellNanos > EVENTS_NANOS : isOverElsewhere(engine, wellNanos)) {
      newcomer.wanted = List.of();
      plan(engine, List.of());
    } else if (newcomer.wanted == null ? !isWell || !mayBegin : isWell && !mayBegin) {
      after.add(() -> holdBack(engine, newcomer));
    }
  }

  /** Whether an engine to which another router of the cluster sees is to get requests as usual. */
  private boolean isOverElsewhere(EngineState engine, long wellNanos) {
    return wellNanos > TimeUnit.MILLISECONDS.toNanos(mostMillis())
        || engine.snapshot(dispatcher.nanos()).load().requestsInFlight() > 0;
  }

  /** Lets what a newcomer should hold, and does not, be load. */
  @SuppressWarnings("ReferenceEquality") // it was not asked anew meanwhile
  private void holdBack(EngineState engine, Newcomer newcomer) {
    List<SharedPrefix> wanted;
    synchronized (this) {
      wanted = newcomer.wanted;
    }
    List<SharedPrefix> all =
        wanted == null
            ? wanted(engine).prefixes().stream().map(SharedPrefix::withoutTokens).toList()
            : wanted;
    List<SharedPrefix> left = all.stream().filter(prefix -> lacks(engine, prefix)).toList();
    synchronized (this) {
      if (newcomer.isPending && newcomer.wanted == wanted && !closed && !runs.containsKey(engine)) {
        newcomer.wanted = all;
        plan(engine, left);
      }
    }
  }

  private boolean lacks(EngineState engine, SharedPrefix prefix) {
    EngineView view = view(engine);
    BlockChain chain = in(view, prefix);
    return view.slot() < 0 || (chain != null && heldBlocks(chain, view.slot()) < chain.blocks());
  }

  private static @Nullable BlockChain in(EngineView view, SharedPrefix prefix) {
    return view.space() == null ? prefix.chain() : prefix.chain().in(view.space());
  }

  private void look(Run run, boolean isWaitedFor, long nowNanos, List<Runnable> after) {
    Replica replica = run.engine.replica();
    State obstacle = replica.isGone() ? State.GONE : obstacle(run.engine);
    boolean isBusy = run.engine.worksForClients(true);
    if (run.sent != null && (obstacle != null || isWaitedFor || isBusy)) {
      breakOff(run, after);
      after.add(dispatcher::freed);
      boolean isForOthers = isBusy && run.engine.snapshot(nowNanos).load().requestsInFlight() == 0;
      if (isForOthers) {
        run.pause(nowNanos);
      }
    }
    if (obstacle != null) {
      end(run, obstacle == State.OFF ? obstacle : State.GONE, after);
    } else if (!isWaitedFor) {
      after.add(() -> goOn(run));
    }
  }

  /** Begins at one engine, unless it has begun there; says how it stands. */
  public Status begin(EngineState engine) {
    State obstacle = obstacle(engine);
    if (obstacle == null && !isExact(engine) && !isNew(engine)) {
      obstacle = State.NOT_EXACT;
    }
    HotPrefixes.Shared wanted =
        obstacle == null && !runs.containsKey(engine) ? wanted(engine) : HotPrefixes.Shared.NONE;
    Run run;
    synchronized (this) {
      Run running = runs.get(engine);
      if (running != null) {
        return running.status(State.RUNNING);
      }
      if (wanted.prefixes().isEmpty() || closed) {
        State why = closed ? State.GONE : State.NOTHING_SHARED;
        return Status.not(obstacle == null ? why : obstacle, wanted.tooLong());
      }
      ended.remove(engine);
      run = new Run(engine, wanted, dispatcher.nanos());
      run.holdsBack = !engine.worksForClients(false);
      runs.put(engine, run);
    }
    sender.began(engine, run.status(State.RUNNING));
    goOn(run);
    return Objects.requireNonNullElseGet(status(engine), () -> run.status(State.RUNNING));
  }

  /** How it stands at an engine, or how it ended there last; null if it never began. */
  public synchronized @Nullable Status status(EngineState engine) {
    Run run = runs.get(engine);
    return run == null ? ended.get(engine) : run.status(State.RUNNING);
  }

  private @Nullable State obstacle(EngineState engine) {
    if (mostMillis() == 0) {
      return State.OFF;
    }
    KvTransfer transfer = engine.replica().transfer();
    if (transfer.role() == KvTransfer.Role.DECODE) {
      return State.DECODES;
    }
    if (transfer.role() == KvTransfer.Role.PREFILL && !takesPlain(transfer.connector())) {
      return State.PREFILLS;
    }
    if (!engine.replica().isWell()
        || engine.replica().draining()
        || engine.isEjected(dispatcher.nanos())) {
      return State.NOT_WELL;
    }
    return view(engine).slot() < 0 || view(engine).trust() == Trust.SUSPECT
        ? State.NOT_EXACT
        : null;
  }

  /** Whether a prefill is known to take a completion that it does not hand over. */
  private static boolean takesPlain(KvTransfer.Connector connector) {
    return switch (connector) {
      case NONE, NIXL, STORE -> true; // with a store a prefill is told nothing else
      default -> false;
    };
  }

  private long mostMillis() {
    return computeMillis.getAsLong();
  }

  private boolean isExact(EngineState engine) {
    return view(engine).trust() == Trust.EXACT;
  }

  /** Whether it has announced nothing yet, and will be heard when it does. */
  private boolean isNew(EngineState engine) {
    return view(engine).trust() == Trust.NONE
        && dispatcher.engineEvents().isConnected(engine.replica(), engine.dpRank());
  }

  private EngineView view(EngineState engine) {
    return dispatcher.engineEvents().view(engine.replica(), engine.dpRank());
  }

  /** What the engine should hold, the most wanted first. */
  private HotPrefixes.Shared wanted(EngineState engine) {
    Replica replica = engine.replica();
    ToIntFunction<@Nullable String> longest = longest(engine);
    HotPrefixes.Shared all = dispatcher.prefixes().shared(longest, MOST_TOKENS, onlyKnown);
    if (all.prefixes().isEmpty() || replica.gpuBlocks() == 0) {
      return all;
    }
    int blockTokens = all.prefixes().get(0).chain().space().blockSizeTokens();
    long holds = replica.gpuBlocks() / replica.ranks() * blockTokens;
    return dispatcher
        .prefixes()
        .shared(longest, Math.min(MOST_TOKENS, (long) (MOST_SHARE * holds)), onlyKnown);
  }

  /** Tokens that a prefix of a model may have at an engine; -1 if it is not for it. */
  private ToIntFunction<@Nullable String> longest(EngineState engine) {
    Replica replica = engine.replica();
    boolean isOneModel = models() <= 1;
    return model ->
        (model == null ? isOneModel : replica.serves(model))
            ? Math.max(0, replica.maxTokens(model) - TOKENS_BEHIND)
            : -1;
  }

  /** A request that names none goes to any engine, so its tokens may be of any of them. */
  private long models() {
    return dispatcher.engines().stream()
        .flatMap(engine -> engine.replica().models().stream())
        .distinct()
        .count();
  }

  /** Goes on at an engine that is idle, or ends there. */
  private void goOn(Run run) {
    List<Runnable> after = new ArrayList<>();
    Sent next;
    do {
      boolean isWaitedFor = isWaitedFor();
      synchronized (this) {
        next = isWaitedFor ? null : next(run, after);
      }
    } while (next != null && !compute(run, next));
    after.forEach(Runnable::run);
  }

  /** Takes the next one that is to be computed now, or ends. */
  private @Nullable Sent next(Run run, List<Runnable> after) {
    long now = dispatcher.nanos();
    if (run.sent != null || !run.equals(runs.get(run.engine))) {
      return null;
    }
    State over = reasonToEnd(run, now);
    if (over != null) {
      end(run, over, after);
      return null;
    }
    boolean isKnown = isExact(run.engine) || (run.computed == 0 && isNew(run.engine));
    if (!isKnown || now < run.pausedUntilNanos || run.engine.worksForClients(false)) {
      return null;
    }
    Sent next = new Sent(run.left.remove());
    run.sent = next;
    return next;
  }

  private @Nullable State reasonToEnd(Run run, long nowNanos) {
    if (run.left.isEmpty()) {
      return State.DONE;
    }
    if (obstacle(run.engine) != null) {
      return State.GONE;
    }
    if (nowNanos - run.sinceNanos > MOST_NANOS) {
      return State.LATE;
    }
    return mostMillis() - run.spentNanos / 1e6 <= 0 ? State.SPENT : null;
  }

  /** Whether it is under way, or broken off; otherwise the engine holds it. */
  @SuppressWarnings("ReferenceEquality")
  private boolean compute(Run run, Sent sent) {
    EngineView view = view(run.engine);
    BlockChain chain = in(view, sent.prefix);
    int held = chain == null ? 0 : heldBlocks(chain, view.slot());
    synchronized (this) {
      if (run.sent != sent) {
        return true;
      }
      if (chain == null || held == chain.blocks()) {
        run.sent = null;
        return false;
      }
      sent.tokens = (chain.blocks() - held) * chain.space().blockSizeTokens();
      sent.reservation = run.engine.prewarm(chain, held, dispatcher.nanos());
      plan(run.engine, run.holdsBack ? List.copyOf(run.left) : List.of());
    }
    Runnable breakOff = sender.send(run.engine, sent.prefix, answer -> done(run, sent, answer));
    synchronized (this) {
      if (run.sent == sent) {
        sent.breakOff = breakOff;
        return true;
      }
    }
    breakOff.run(); // it was meanwhile, or is over
    return true;
  }

  private int heldBlocks(BlockChain chain, int slot) {
    PrefixMatches matches = new PrefixMatches();
    index.match(chain, matches);
    int tokens = slot < matches.slots() ? matches.tokens(slot) : 0;
    return Math.min(chain.blocks(), tokens / chain.space().blockSizeTokens());
  }

  /** Lets what is left be load, as far as there is time for it. */
  private void plan(EngineState engine, List<SharedPrefix> left) {
    long tokens = 0;
    for (SharedPrefix prefix : left) {
      tokens += prefix.newTokens();
    }
    engine.plan(tokens, (double) mostMillis());
  }

  @SuppressWarnings("ReferenceEquality")
  private void done(Run run, Sent sent, Answer answer) {
    List<Runnable> after = new ArrayList<>();
    synchronized (this) {
      if (run.sent != sent) {
        return; // it was broken off before
      }
      over(run, sent, answer);
      after.add(dispatcher::freed);
      switch (answer.result()) {
        case COMPUTED -> {
          run.computed++;
          run.refusedInARow = 0;
        }
        case BUSY, BROKEN_OFF -> {
          run.left.addFirst(sent.prefix);
          run.pause(dispatcher.nanos());
        }
        case REFUSED -> {
          run.refusedInARow++;
          if (run.computed == 0 || run.refusedInARow == MOST_REFUSED) {
            end(run, State.REFUSED, after);
          }
        }
        case FAILED -> end(run, State.FAILED, after);
      }
      after.add(() -> goOn(run));
    }
    after.forEach(Runnable::run);
  }

  private void over(Run run, Sent sent, Answer answer) {
    run.sent = null;
    Reservation reservation = sent.reservation;
    if (reservation == null) {
      return; // nobody was asked yet
    }
    long now = dispatcher.nanos();
    run.spentNanos += now - reservation.sinceNanos();
    run.problem = answer.problem() == null ? run.problem : answer.problem();
    boolean isComputed = answer.result() == Result.COMPUTED;
    boolean isTold = answer.computedTokens() >= 0;
    int tokens = isTold ? Math.min(sent.tokens, answer.computedTokens()) : sent.tokens;
    if (isComputed && (isTold ? tokens == sent.tokens : isExact(run.engine))) {
      run.engine.firstToken(reservation, now); // shows its speed
    }
    run.engine.release(reservation, isComputed, now);
    run.tokens += isComputed ? tokens : 0;
    run.engine.meters().countPrewarm(answer.result().label(), isComputed ? tokens : 0);
  }

  private void breakOff(Run run, List<Runnable> after) {
    run.holdsBack = false;
    plan(run.engine, List.of());
    Sent sent = run.sent;
    if (sent != null) {
      run.left.addFirst(sent.prefix);
      over(run, sent, new Answer(Result.BROKEN_OFF, -1, null));
      if (sent.breakOff != null) {
        after.add(sent.breakOff);
      }
    }
  }

  private void end(Run run, State how, List<Runnable> after) {
    plan(run.engine, List.of());
    runs.remove(run.engine, run);
    Status status = run.status(how);
    ended.put(run.engine, status);
    after.add(() -> sender.ended(run.engine, status));
  }

  /** Breaks off all that is under way, for good. */
  public void close() {
    List<Runnable> after = new ArrayList<>();
    synchronized (this) {
      closed = true;
      for (Run run : List.copyOf(runs.values())) {
        breakOff(run, after);
        end(run, State.GONE, after);
      }
    }
    after.forEach(Runnable::run);
  }
}
