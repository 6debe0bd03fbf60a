package dev.warmpath.router.dispatch;

import dev.warmpath.eventingest.EngineView;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.router.fleet.EngineState;
import dev.warmpath.router.fleet.KvTransfer;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.fleet.Reservation;
import dev.warmpath.router.fleet.SharedPrefix;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
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
   * and its events are exact. What is wanted there is load from the first look on.
   */

  /** From the first prefix on; what is not computed by then is left out. */
  static final long MOST_NANOS = TimeUnit.MINUTES.toNanos(1);

  /** Of an engine's cache: what sessions do not share needs room, too. */
  private static final double MOST_SHARE = 0.5;

  /** Where it is not known how much the cache holds. */
  private static final long MOST_TOKENS = 1 << 20;

  /** Requests do not keep off a newcomer for longer that is well, until its events are exact. */
  private static final long EVENTS_NANOS = TimeUnit.SECONDS.toNanos(2);

  /**
   * What it may do.
   *
   * @param newcomers whether engines that join, or have lost their caches, are seen to
   * @param computeMillis how long an engine may compute prefixes, all together
   */
  public record Limits(boolean newcomers, long computeMillis) {}

  /** Lets engines compute prefixes. */
  public interface Sender {
    /**
     * Lets an engine compute a prefix, and answer with no more than a token.
     *
     * @param done is told once, on any thread, maybe before this returns
     * @return breaks it off, after which nobody waits for {@code done}
     */
    Runnable send(EngineState engine, SharedPrefix prefix, Consumer<Result> done);

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
    /** The engine answered that it does not want it. */
    REFUSED,
    FAILED;

    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
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
    DECODES;

    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * How it stands, or ended.
   *
   * @param prefixes that were wanted there
   * @param computed of these, by this
   * @param tokens that were computed
   * @param millis which that took
   */
  public record Status(State state, int prefixes, int computed, long tokens, long millis) {

    static Status not(State why) {
      return new Status(why, 0, 0, 0, 0);
    }
  }

  private final Dispatcher dispatcher;
  private final KvIndex index;
  private final Sender sender;
  private final Supplier<Limits> limits;
  private final boolean onlyKnown;
  private final Map<EngineState, Newcomer> seen = new HashMap<>();
  private final Map<EngineState, Status> ended = new HashMap<>();

  /** By the engine's name. */
  private final Map<String, Run> runs = new ConcurrentHashMap<>();

  /** An engine, and how often it had lost its cache when it was looked at. */
  private static final class Newcomer {
    private long losses;
    private boolean isPending = true;
    private boolean isPlanned;
    private long wellNanos = Long.MIN_VALUE;

    private Newcomer(long losses) {
      this.losses = losses;
    }
  }

  private static final class Run {
    private final EngineState engine;
    private final Deque<SharedPrefix> left;
    private final int prefixes;
    private final long sinceNanos;
    private boolean holdsBack;
    private @Nullable Sent sent;
    private int computed;
    private long tokens;
    private long spentNanos;

    private Run(EngineState engine, List<SharedPrefix> wanted, long nowNanos) {
      this.engine = engine;
      this.left = new ArrayDeque<>(wanted);
      this.prefixes = wanted.size();
      this.sinceNanos = nowNanos;
    }

    private Status status(State state) {
      long millis = TimeUnit.NANOSECONDS.toMillis(spentNanos);
      return new Status(state, prefixes, computed, tokens, millis);
    }
  }

  /** A prefix under way. */
  private static final class Sent {
    private final SharedPrefix prefix;
    private final Reservation reservation;
    private final int tokens;
    private Runnable breakOff = () -> {};

    private Sent(SharedPrefix prefix, Reservation reservation, int tokens) {
      this.prefix = prefix;
      this.reservation = reservation;
      this.tokens = tokens;
    }
  }

  /**
   * @param limits as they are now
   * @param onlyKnown whether prefixes are of no use without their tokens
   */
  public Prewarming(
      Dispatcher dispatcher,
      KvIndex index,
      Sender sender,
      Supplier<Limits> limits,
      boolean onlyKnown) {
    this.dispatcher = dispatcher;
    this.index = index;
    this.sender = sender;
    this.limits = limits;
    this.onlyKnown = onlyKnown;
  }

  /** A request was given to an engine: what is under way there is broken off. */
  @Override
  public void assigned(PreparedRequest request, Assignment assignment) {
    if (runs.containsKey(assignment.engine())) {
      giveWay(assignment.engine());
    }
  }

  private synchronized void giveWay(String engine) {
    Run run = runs.get(engine);
    if (run != null) {
      breakOff(run);
    }
  }

  /** Time has passed, or the fleet has changed. To be called a few times a second. */
  public void look() {
    look(true);
  }

  /**
   * The same.
   *
   * @param mayBegin whether newcomers are this router's to see to
   */
  public void look(boolean mayBegin) {
    if (lookAtAll(mayBegin)) {
      dispatcher.freed(); // under no lock: who gets the place is told to this
    }
  }

  /** Whether a place is free again. */
  private synchronized boolean lookAtAll(boolean mayBegin) {
    long now = dispatcher.nanos();
    boolean any = limits.get().newcomers() && mayBegin;
    seen.keySet().removeIf(engine -> engine.replica().isGone());
    ended.keySet().removeIf(engine -> engine.replica().isGone());
    for (EngineState engine : dispatcher.engines()) {
      long losses = dispatcher.engineEvents().losses(engine.replica(), engine.dpRank());
      Newcomer newcomer = seen.computeIfAbsent(engine, one -> new Newcomer(losses));
      if (newcomer.losses != losses) {
        newcomer.losses = losses;
        newcomer.isPending = true;
        newcomer.isPlanned = false;
        newcomer.wellNanos = Long.MIN_VALUE;
      }
      if (newcomer.isPending) {
        look(engine, newcomer, any, now);
      }
    }
    boolean isWaitedFor = dispatcher.queued() > dispatcher.held();
    boolean isFree = false;
    for (Run run : List.copyOf(runs.values())) {
      if (run.sent != null && (isWaitedFor || run.engine.worksForClients(true))) {
        breakOff(run);
        isFree = true;
      }
      if (!isWaitedFor) {
        goOn(run);
      }
    }
    return isFree;
  }

  private void look(EngineState engine, Newcomer newcomer, boolean mayBegin, long nowNanos) {
    Replica replica = engine.replica();
    if (!mayBegin) {
      newcomer.isPending = false;
      plan(engine, List.of());
    } else if (!replica.isWell()) {
      newcomer.wellNanos = Long.MIN_VALUE;
      if (!newcomer.isPlanned) {
        newcomer.isPlanned = true;
        plan(engine, wanted(engine));
      }
    } else if (replica.namesModels() && (isExact(engine) || isNew(engine))) {
      newcomer.isPending = false;
      plan(engine, List.of());
      begin(engine);
    } else if (newcomer.wellNanos == Long.MIN_VALUE) {
      newcomer.wellNanos = nowNanos;
    } else if (nowNanos - newcomer.wellNanos > EVENTS_NANOS) {
      plan(engine, List.of());
      newcomer.isPending = nowNanos - newcomer.wellNanos < MOST_NANOS;
    }
  }

  /** Begins at one engine, unless it has begun there; says how it stands. */
  public synchronized Status begin(EngineState engine) {
    Run running = runs.get(engine.name());
    if (running != null) {
      return running.status(State.RUNNING);
    }
    State obstacle = obstacle(engine);
    if (obstacle == null && !isExact(engine) && !isNew(engine)) {
      obstacle = State.NOT_EXACT;
    }
    List<SharedPrefix> wanted = obstacle == null ? wanted(engine) : List.of();
    if (wanted.isEmpty()) {
      return Status.not(obstacle == null ? State.NOTHING_SHARED : obstacle);
    }
    ended.remove(engine);
    Run run = new Run(engine, wanted, dispatcher.nanos());
    run.holdsBack = !engine.worksForClients(false);
    runs.put(engine.name(), run);
    sender.began(engine, run.status(State.RUNNING));
    goOn(run);
    return ended.getOrDefault(engine, run.status(State.RUNNING));
  }

  /** How it stands at an engine, or how it ended there last; null if it never began. */
  public synchronized @Nullable Status status(EngineState engine) {
    Run run = runs.get(engine.name());
    return run == null ? ended.get(engine) : run.status(State.RUNNING);
  }

  private @Nullable State obstacle(EngineState engine) {
    if (engine.replica().transfer().role() == KvTransfer.Role.DECODE) {
      return State.DECODES;
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
  private List<SharedPrefix> wanted(EngineState engine) {
    Replica replica = engine.replica();
    List<SharedPrefix> all = dispatcher.prefixes().shared(replica::serves, MOST_TOKENS, onlyKnown);
    if (all.isEmpty() || replica.gpuBlocks() == 0) {
      return all;
    }
    int blockTokens = all.get(0).chain().space().blockSizeTokens();
    long holds = replica.gpuBlocks() / replica.ranks() * blockTokens;
    return dispatcher
        .prefixes()
        .shared(replica::serves, Math.min(MOST_TOKENS, (long) (MOST_SHARE * holds)), onlyKnown);
  }

  /** Goes on at an engine that is idle, or ends there. */
  private void goOn(Run run) {
    while (run.sent == null) {
      SharedPrefix next = run.left.peek();
      long now = dispatcher.nanos();
      if (next == null) {
        end(run, State.DONE);
        return;
      }
      State obstacle = obstacle(run.engine);
      if (obstacle != null) {
        end(run, State.GONE);
        return;
      }
      if (now - run.sinceNanos > MOST_NANOS) {
        end(run, State.LATE);
        return;
      }
      if (leftMillis(run) <= 0) {
        end(run, State.SPENT);
        return;
      }
      boolean isKnown = isExact(run.engine) || (run.computed == 0 && isNew(run.engine));
      if (!isKnown || run.engine.worksForClients(false)) {
        return;
      }
      run.left.remove();
      EngineView view = view(run.engine);
      BlockChain chain = view.space() == null ? next.chain() : next.chain().in(view.space());
      int held = chain == null ? 0 : heldBlocks(chain, view.slot());
      if (chain != null && held < chain.blocks()) {
        send(run, next, chain, held, now);
      }
    }
  }

  private double leftMillis(Run run) {
    return limits.get().computeMillis() - run.spentNanos / 1e6;
  }

  private int heldBlocks(BlockChain chain, int slot) {
    PrefixMatches matches = new PrefixMatches();
    index.match(chain, matches);
    int tokens = slot < matches.slots() ? matches.tokens(slot) : 0;
    return Math.min(chain.blocks(), tokens / chain.space().blockSizeTokens());
  }

  private void send(Run run, SharedPrefix prefix, BlockChain chain, int held, long nowNanos) {
    int tokens = (chain.blocks() - held) * chain.space().blockSizeTokens();
    Reservation reservation = run.engine.prewarm(chain, held, nowNanos);
    Sent sent = new Sent(prefix, reservation, tokens);
    run.sent = sent;
    plan(run.engine, run.holdsBack ? List.copyOf(run.left) : List.of());
    sent.breakOff = sender.send(run.engine, prefix, result -> done(run, sent, result));
  }

  /** Lets what is left be load, as far as there is time for it. */
  private void plan(EngineState engine, List<SharedPrefix> left) {
    long tokens = 0;
    for (SharedPrefix prefix : left) {
      tokens += prefix.newTokens();
    }
    engine.plan(tokens, (double) limits.get().computeMillis());
  }

  private void done(Run run, Sent sent, Result result) {
    if (end(run, sent, result)) {
      dispatcher.freed();
    }
  }

  /** Whether it was not broken off before. */
  @SuppressWarnings("ReferenceEquality")
  private synchronized boolean end(Run run, Sent sent, Result result) {
    if (run.sent != sent) {
      return false;
    }
    over(run, sent, result);
    switch (result) {
      case COMPUTED -> {
        run.computed++;
        run.tokens += sent.tokens;
        goOn(run);
      }
      case BROKEN_OFF -> {}
      case REFUSED -> end(run, State.REFUSED);
      case FAILED -> end(run, State.FAILED);
    }
    return true;
  }

  private void over(Run run, Sent sent, Result result) {
    run.sent = null;
    long now = dispatcher.nanos();
    run.spentNanos += now - sent.reservation.sinceNanos();
    boolean isComputed = result == Result.COMPUTED;
    if (isComputed) {
      run.engine.firstToken(sent.reservation, now);
    }
    run.engine.release(sent.reservation, isComputed, now);
    run.engine.meters().countPrewarm(result.label(), isComputed ? sent.tokens : 0);
  }

  private void breakOff(Run run) {
    run.holdsBack = false;
    plan(run.engine, List.of());
    Sent sent = run.sent;
    if (sent != null) {
      run.left.addFirst(sent.prefix);
      over(run, sent, Result.BROKEN_OFF);
      sent.breakOff.run();
    }
  }

  private void end(Run run, State how) {
    plan(run.engine, List.of());
    runs.remove(run.engine.name(), run);
    Status status = run.status(how);
    ended.put(run.engine, status);
    sender.ended(run.engine, status);
  }

  /** Breaks off all that is under way. */
  public synchronized void close() {
    runs.values()
        .forEach(run -> {
          breakOff(run);
          end(run, State.GONE);
        });
  }
}
