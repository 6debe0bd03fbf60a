package dev.warmpath.eventingest.stream;

import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.eventingest.ReportedReuse;
import dev.warmpath.eventingest.StreamCounter;
import dev.warmpath.eventingest.StreamCounters;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.eventingest.TrustState;
import dev.warmpath.eventingest.apply.EventApplier;
import dev.warmpath.eventingest.snapshot.EngineFate;
import dev.warmpath.eventingest.snapshot.StreamSnapshot;
import dev.warmpath.eventingest.stream.BatchDigests.Verdict;
import dev.warmpath.eventingest.wire.StreamMessage;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Keeps one engine's batches in order and complete, or else suspends what the engine held.
 *
 * <p>Sequence numbers begin at 0 with each lifetime of the engine's process. A jump is repaired by
 * a replay, which begins one batch early: that batch proves by its bytes that the process is still
 * the same. What no replay brings back is lost; then what the engine held is suspended, because
 * removals may have been among it, until what follows shows that it is still there; or forgotten,
 * if the process may be another one. {@link #trust} says what that leaves to believe.
 *
 * <p>Confined to the writer; {@link #trust}, {@link #lastSequence}, {@link #awaits} and {@link
 * #bufferedBatches} may be read by any thread.
 */
public final class EngineStream {

  /*
   * One replay at most is under way. What comes meanwhile, by `state`:
   *
   *              live batch                       batch of the replay    whole                  failed
   *   FOLLOWING  the next is applied, one known   none is awaited        –                      –
   *              is a duplicate, one behind a
   *              jump waits ──▶ REPAIRING
   *   CHECKING   the same                         missed ──▶ FOUND       ──▶ FOLLOWING          ──▶ FOLLOWING
   *   FOUND      waits                            applied                ──▶ FOLLOWING; what    ──▶ REPAIRING, asks again;
   *                                                                      waits comes next       after some attempts what is
   *   REPAIRING  waits                            applied                the same               missing is lost ──▶ FOLLOWING
   *   JOINING    see below                        none is awaited        –                      –
   *
   * A restored stream whose engine was heard while the snapshot was read begins in JOINING: the snapshot may be a
   * neighbour's, taken after this router had subscribed. Its last batch is n. In order of their numbers, what was held:
   *
   *   before n            passed over: the snapshot has it, or the proof will fail at n
   *   n, the same bytes   proof: the connection goes on where the snapshot ends ──▶ FOLLOWING, no replay is asked
   *   n, other bytes      another lifetime: all is forgotten and asked for
   *   behind n, n unheard the next number alone proves nothing, another process may count alike ──▶ REPAIRING; without
   *                       a replay socket the process's start must show it, as for any snapshot
   *   none, or none to n  once all that was held has come ──▶ REPAIRING; if some before n was heard, n is on its way
   *                       and waited for, JOIN_WAIT at most
   *
   * The same proof ends a REPAIRING that no replay has answered yet. Nothing is applied to what is unproven, and numbers
   * that go back while it is, or a new connection, drop what waits: it may be of the process before.
   *
   * A whole answer may lead to REPAIRING instead: if nothing in it shows that the process is the same, all is
   * forgotten and asked for; if a gap was given up while the engine did not answer, all is asked for again; if what
   * waits lies behind another gap, drain() finds it.
   *
   * In every state: another batch under a known number ends the lifetime, and all is asked for again; a reconnect,
   * a restart, an unproven restored stream or live batches without room begin a repair; if the engine cannot be
   * asked, what is missing is lost. A replay that begins too late to show the process loses what is missing if the
   * process's start is known, which will tell; else all is forgotten.
   *
   * I1  every batch below `lifetime.next` was applied, or counted as lost and what was held suspended
   * I2  `cache` is complete only if nothing was lost since the engine held nothing
   * I3  nothing is credited that may be of another lifetime than what is heard next; it is suspended if
   *     the process's start is known, which will tell, and forgotten if not
   * I4  a batch that comes behind a later one is not applied, but counted, and what was held suspended
   * I5  while a replay brings what is missing no live batch is applied; they wait in `waiting`
   */

  /** Whether a replay is under way, and what for. */
  private enum State {
    /** None. */
    FOLLOWING,
    /** None yet: what is restored may be proven by what was heard while the snapshot was read. */
    JOINING,
    /** Nothing speaks for a loss; the question makes sure, and nothing waits for the answer. */
    CHECKING,
    /** A check has brought batches that were missed. */
    FOUND,
    /** Something is or may be missing: until the end the engine is not believed. */
    REPAIRING
  }

  /** What the replay under way has shown. */
  private enum Proof {
    /** Nothing: its batches may be another process's. */
    NONE,
    /** It goes on where the stream is, or on from a known loss: it may be applied. */
    GOES_ON,
    /** Its first batch has the bytes of the one that was known: the process is the same. */
    SAME_PROCESS
  }

  private static final String RESTORED = "restored from a snapshot";

  /** A question to the replay socket. */
  private record Replay(long id, String why, long from) {}

  /** By then the engine's metrics have been read a few times. */
  private static final Duration START_WAIT = Duration.ofSeconds(60);

  private static final Duration FIRST_CHECK = Duration.ofSeconds(1);

  /**
   * A batch that another router has applied, and that is on its way to this one, is here by then.
   */
  static final Duration JOIN_WAIT = Duration.ofSeconds(5);

  private final EngineSource source;
  private final StreamSockets sockets;
  private final StreamLimits limits;
  private final LongSupplier nanoClock;
  private final StreamCounters counters;
  private final Lifetime lifetime = new Lifetime();
  private final KnownCache cache;
  private final ReuseJudge judge;
  private final WaitingBatches waiting;

  private volatile State state = State.FOLLOWING;

  /** The last question; it is under way unless {@link #state} is FOLLOWING or JOINING. */
  private volatile Replay replay = new Replay(0, "", 0);

  private Proof proof = Proof.NONE;

  /** Whether batches that were held while a snapshot was read are still to come. */
  private boolean expectsHeld;

  /** Whether a batch before the snapshot's last one was heard, so that the last one must come. */
  private boolean heardBeforeLast;

  private long joinUntilNanos;

  /** Whether to clear the cache behind the replay: it was reported empty meanwhile. */
  private boolean clearAfterwards;

  /** Whether live batches were refused since the last question. */
  private boolean refusedLive;

  /** Whether live batches were dropped that a replay must bring before all is known. */
  private boolean droppedLive;

  /** Replays in a row that brought nothing. */
  private int fruitless;

  private long restUntilNanos;
  private long retryAtNanos;
  private long connectedNanos;

  /** Means nothing while the connection is gone: then no silence is checked. */
  private long checkAtNanos;

  private boolean heardSinceCheck;

  /**
   * @param nanoClock counts nanoseconds from anywhere, never back; {@link ReportedReuse} is by it
   */
  public EngineStream(
      EventApplier applier,
      StreamSockets sockets,
      StreamLimits limits,
      LongSupplier nanoClock,
      StreamCounters counters) {
    this.sockets = sockets;
    this.limits = limits;
    this.nanoClock = nanoClock;
    this.counters = counters;
    source = applier.source();
    cache = new KnownCache(applier, lifetime, sockets, nanoClock, counters);
    judge = new ReuseJudge(source.rules().remedy() == null, counters, nanoClock);
    waiting = new WaitingBatches(limits);
    connectedNanos = nanoClock.getAsLong();
    restUntilNanos = connectedNanos;
    retryAtNanos = connectedNanos;
  }

  /**
   * Goes on where a stream of another process left off, with what the index has kept; before the
   * first connection. Nothing is applied before the engine's process is shown to be the same, by
   * its last batch in a replay or heard live, or else all is forgotten.
   *
   * @param listener hears once, on the writer's thread, whether it is still the one that the stream
   *     knew, and why
   */
  public void resume(StreamSnapshot snapshot, BiConsumer<EngineFate, String> listener) {
    lifetime.resume(snapshot, listener);
    cache.resume(snapshot.gap());
    updateTrust();
  }

  /**
   * What was heard and told while the snapshot was read comes next, until {@link #heldEnded}; right
   * after {@link #resume}. It may prove what was restored, so nothing is asked before.
   */
  public void expectHeld() {
    expectsHeld = true;
  }

  /** All that was held while the snapshot was read has come. */
  public void heldEnded() {
    expectsHeld = false;
    if (state == State.JOINING) {
      joinUntilNanos = in(JOIN_WAIT);
      if (!heardBeforeLast) {
        unjoined();
      }
    } else if (lifetime.isUnproven() && !cache.isConnected()) {
      refuseUnprovable();
    }
    updateTrust();
  }

  /** What another process needs to go on here, or null if there is nothing to go on from. */
  public @Nullable StreamSnapshot snapshot() {
    if (!lifetime.started() || clearAfterwards || !lifetime.isShownByLast()) {
      return null;
    }
    long last = lifetime.lastSequence();
    return new StreamSnapshot(
        last, lifetime.digest(last), lifetime.startSeconds(), cache.gap(), cache.learned());
  }

  /** How far the engine is believed. */
  public TrustState trust() {
    return cache.trust();
  }

  /** The last batch applied in this lifetime, −1 before the first. */
  public long lastSequence() {
    return lifetime.lastSequence();
  }

  /** Whether a replay is still under way; its answer is for nothing if not. */
  public boolean awaits(long replayId) {
    return isAsking() && replay.id() == replayId;
  }

  /** Live batches that wait for the end of a replay. */
  public int bufferedBatches() {
    return waiting.count();
  }

  // What the sockets tell.

  /** The live connection is up, for the first time or again. */
  public void connected() {
    boolean isDecided = lifetime.continuity().isDecided();
    if (lifetime.started() && isDecided) {
      counters.add(StreamCounter.RECONNECTS);
    }
    cache.connected(true);
    connectedNanos = nanoClock.getAsLong();
    checkAtNanos = in(FIRST_CHECK);
    heardSinceCheck = true; // the first check may bring what was published before the subscription
    if (lifetime.isUnproven() || !lifetime.started()) {
      // of an earlier connection, perhaps of another process; if not, a replay has them
      waiting.clear();
    }
    if (lifetime.started() && lifetime.isUnproven() && (expectsHeld || state == State.JOINING)) {
      lifetime.unheard();
      state = State.JOINING; // a question of before is void
      heardBeforeLast = false;
    } else if (lifetime.started()) {
      lifetime.unheard();
      replayOrLose(isDecided ? "reconnected" : RESTORED);
    } else {
      cache.forgetSuspended();
      lifetime.cleared();
      replayIfPossible("first contact");
    }
    updateTrust();
  }

  /** The live connection is gone: what the engine does now is not heard. */
  public void disconnected() {
    cache.connected(false);
    lifetime.unheard();
    updateTrust();
  }

  /** One message of the live connection. */
  public void live(StreamMessage batch) {
    heardSinceCheck = true;
    checkAtNanos = in(limits.checkInterval());
    if (lifetime.isUnproven() && state == State.FOLLOWING) {
      replayOrLose(RESTORED);
    }
    if (lifetime.isUnproven() && batch.sequence() < lifetime.next() && isJoinable(batch)) {
      join(batch);
    } else if (state == State.JOINING) {
      unjoined();
      live(batch);
    } else if (isRepairing()) {
      keep(batch);
    } else {
      route(batch);
    }
    updateTrust();
  }

  /** Live messages were refused for lack of room; no later one may come to show the gap. */
  public void liveRefused() {
    refusedLive = true;
    if (!isRepairing() && state != State.JOINING) {
      requestRefused();
    }
    updateTrust();
  }

  /** One batch of the answer to a replay. */
  public void replayed(long replayId, StreamMessage batch) {
    if (!awaits(replayId)) {
      return;
    }
    if (!lifetime.started() || batch.sequence() >= lifetime.next()) {
      replayedNew(batch);
    } else {
      replayedOld(batch);
    }
    updateTrust();
  }

  /**
   * A replay is over.
   *
   * @param whole whether the engine said so; else it fell silent or could not be asked
   */
  public void replayEnded(long replayId, boolean whole) {
    if (!awaits(replayId)) {
      return;
    }
    State ended = state;
    state = State.FOLLOWING;
    if (whole) {
      answered(ended);
    } else {
      counters.add(StreamCounter.REPLAY_FAILURES);
      unanswered(ended);
    }
    updateTrust();
  }

  // What others tell.

  /** The engine's cache is known to be empty although its own event may come late. */
  public void cleared() {
    cache.clear();
    if (lifetime.started()) {
      cache.complete();
    }
    clearAfterwards = isAsking();
    updateTrust();
  }

  /** The engine's process is known to be gone or new. */
  public void restarted(String why) {
    newLifetime(why);
    if (cache.isConnected()) {
      replayIfPossible(why);
    }
    updateTrust();
  }

  /**
   * The engine's process was seen to have started then, in seconds since 1970. If that is not when
   * the process did that what is held is of, all is forgotten. If it is, and no replay vouches for
   * what was restored, its names are kept.
   */
  public void runsSince(double startSeconds) {
    if (lifetime.isStartKnown() && lifetime.startSeconds() != startSeconds) {
      restarted("the process started at another time than the one that was known");
    }
    lifetime.runsSince(startSeconds);
    updateTrust();
  }

  /** Something speaks against what is believed of this lifetime. */
  public void suspend(String why) {
    if (lifetime.started()) {
      cache.eventsLost(why);
      updateTrust();
    }
  }

  /**
   * The router has failed at something of this engine's, perhaps half-way. All is forgotten and
   * asked for again: at once, but at most once a rest, since the same batch may fail again.
   *
   * @throws RuntimeException or an error if that fails too; then the index may be wrong
   */
  public void failed(String why) {
    clearAfterwards = false;
    cache.forget(EngineFate.NO_ANSWER, why);
    startOver();
    droppedLive = true;
    cache.mayBeReplayed(sockets.canReplay());
    if (cache.isConnected()) {
      replayIfPossible(why);
    }
    rest();
    updateTrust();
  }

  /** The engine is not followed any more: nothing will show whether what was restored is true. */
  public void removed() {
    lifetime.decided(EngineFate.NOT_CONFIGURED, "it was removed");
  }

  /** Nobody will call this any more: nothing is believed from now on. */
  public void abandon(String why) {
    cache.abandon(why);
  }

  /** The engine answered how much of a prompt it reused. */
  public void reused(ReportedReuse reuse) {
    judge.answered(reuse);
    if (!reuse.isShort()) {
      cache.reused(reuse.prompt(), reuse.cachedTokens(), reuse.dispatchedNanos());
    }
  }

  /**
   * The engine is well again after it was not. Its socket shows most restarts; where another
   * process may stand behind the same connection, the last batch asked for again does.
   */
  public void recovered() {
    check("its health came back");
  }

  /**
   * Lets time pass: the replay socket is asked after a silence whether something was missed, and
   * after a rest for what it did not answer.
   */
  public void tick() {
    if (state == State.JOINING && !expectsHeld && isOver(joinUntilNanos)) {
      unjoined();
      updateTrust();
    }
    if ((cache.isConnected() && isOver(checkAtNanos))
        || (cache.mayBeReplayed() && isOver(retryAtNanos))) {
      check("silence");
    }
    if (lifetime.continuity().awaitsStart()
        && nanoClock.getAsLong() - connectedNanos > START_WAIT.toNanos()) {
      lifetime.decided(EngineFate.NO_ANSWER, "nobody says when the process started");
      cache.forgetSuspended();
      updateTrust();
    }
    if (judge.isOverPredicted(trust().trust() == Trust.EXACT, cache.suspendedNanos())) {
      String remedy = source.rules().remedy();
      suspend(
          "the engine keeps reusing less than the index shows"
              + (remedy == null ? "" : ": " + remedy));
    }
  }

  private void updateTrust() {
    judge.applied();
    cache.updateTrust(isRepairing() ? replay.why() : null);
  }

  // Live batches.

  /** Applies a batch, or finds out why it cannot be applied yet. */
  private void route(StreamMessage batch) {
    long sequence = batch.sequence();
    if (!lifetime.started()) {
      begin(batch);
    } else if (sequence == lifetime.next()) {
      cache.apply(batch);
    } else if (sequence > lifetime.next()) {
      acceptAfterGap(batch);
    } else {
      acceptEarlier(batch, lifetime.compare(batch));
    }
  }

  private void begin(StreamMessage batch) {
    if (batch.sequence() > 0 && mayAsk()) {
      replayBefore(batch, "joined at batch " + batch.sequence());
      return;
    }
    cache.begin(batch.sequence(), "joined");
    if (batch.sequence() > 0) {
      cache.mayBeReplayed(sockets.canReplay());
    }
    cache.apply(batch);
  }

  private void acceptAfterGap(StreamMessage batch) {
    counters.add(StreamCounter.GAPS);
    if (mayAsk()) {
      replayBefore(batch, "batch " + lifetime.next() + " is missing");
    } else {
      cache.mayBeReplayed(sockets.canReplay());
      cache.batchesLostBefore(batch.sequence());
      cache.apply(batch);
    }
  }

  private void acceptEarlier(StreamMessage batch, Verdict verdict) {
    if (verdict == Verdict.SAME) {
      counters.add(StreamCounter.DUPLICATES);
      sockets.applied(batch); // a replay has brought it while it waited
    } else if (lifetime.gaveUp(batch)) {
      late(batch);
    } else {
      long last = lifetime.next() - 1;
      newLifetime("sequence went back from " + last + " to " + batch.sequence());
      begin(batch);
    }
  }

  /**
   * A batch that was given up comes after all, or is of another process. It is as good as lost:
   * what came behind it may have undone what it says. If it is of another process, its next ones
   * will soon have numbers that were applied, and other bytes.
   */
  private void late(StreamMessage batch) {
    counters.add(StreamCounter.LATE_BATCHES);
    lifetime.doubtProcess();
    replayOrLose("batch " + batch.sequence() + " came late");
  }

  // Live batches that may prove what was restored.

  /**
   * Whether a batch that is not behind the snapshot may belong to it. In a repair whose replay will
   * tell, one of another process ends it at once.
   */
  private boolean isJoinable(StreamMessage batch) {
    Verdict verdict = lifetime.compare(batch);
    return verdict == Verdict.SAME || (verdict == Verdict.UNKNOWN && state == State.JOINING);
  }

  /** One of the batches up to the snapshot's last, which proves where the connection stands. */
  private void join(StreamMessage batch) {
    waiting.clear(); // their numbers are higher, so they are of another process or came twice
    counters.add(StreamCounter.DUPLICATES);
    if (lifetime.compare(batch) == Verdict.UNKNOWN) {
      heardBeforeLast = true;
      return;
    }
    lifetime.decided(EngineFate.KEPT, "batch " + batch.sequence() + " was heard, too");
    lifetime.answered(true);
    fruitless = 0;
    state = State.FOLLOWING;
    drain();
  }

  /** What was held has not proven it. */
  private void unjoined() {
    state = State.FOLLOWING;
    if (!refuseUnprovable()) {
      replayOrLose(RESTORED);
    }
  }

  /** Forgets what was restored if neither a replay nor the process's start can ever show it. */
  private boolean refuseUnprovable() {
    boolean unprovable = !sockets.canReplay() && !lifetime.isStartKnown();
    if (unprovable) {
      cache.forget(EngineFate.NO_REPLAY, RESTORED + ", and there is no replay socket");
      startOver();
    }
    return unprovable;
  }

  /** Keeps a live batch until the replay is over. */
  private void keep(StreamMessage batch) {
    boolean isOld = lifetime.started() && batch.sequence() < lifetime.next();
    Verdict verdict = isOld ? lifetime.compare(batch) : waiting.compare(batch);
    if (verdict == Verdict.SAME) {
      counters.add(StreamCounter.DUPLICATES);
    } else if (isOld || verdict == Verdict.OTHER) {
      boolean others = waiting.first() != null;
      newLifetime("sequence went back to " + batch.sequence());
      route(batch);
      requestDropped(others);
    } else if (!waiting.add(batch)) {
      counters.add(StreamCounter.BUFFER_OVERFLOWS);
      refusedLive = true;
    }
  }

  // Batches of a replay.

  private void replayedOld(StreamMessage batch) {
    Verdict verdict = lifetime.compare(batch);
    if (verdict == Verdict.OTHER) {
      beginAnew("a replay shows another batch " + batch.sequence());
    } else if (verdict == Verdict.SAME && batch.sequence() == replay.from()) {
      proof = Proof.SAME_PROCESS;
      lifetime.decided(EngineFate.KEPT, "batch " + replay.from() + " is the same");
    }
  }

  private void replayedNew(StreamMessage batch) {
    // While the connection lasts, it vouches for the process that a repair is of.
    boolean same =
        cache.isConnected() && !lifetime.continuity().isBroken() && state == State.REPAIRING;
    if (lifetime.started() && proof == Proof.NONE && !same && !goesOnOutOfReach()) {
      return;
    }
    if (!lifetime.started()) {
      cache.begin(batch.sequence(), "the replay begins");
    } else if (batch.sequence() > lifetime.next()) {
      cache.batchesLostBefore(batch.sequence());
    }
    if (proof == Proof.NONE) {
      proof = Proof.GOES_ON;
    }
    if (state == State.CHECKING) {
      state = State.FOUND;
    }
    fruitless = 0;
    counters.add(StreamCounter.REPLAYED_BATCHES);
    cache.apply(batch);
  }

  /** The replay begins too late to show the process; whether to go on all the same. */
  private boolean goesOnOutOfReach() {
    if (lifetime.isStartKnown()) {
      lifetime.awaitStart();
      cache.eventsLost("a replay no longer shows batch " + replay.from());
      return true;
    }
    lifetime.decided(EngineFate.OUT_OF_REACH, "the replay begins behind batch " + replay.from());
    processUnknown();
    return false;
  }

  /** The process cannot be shown to be the same; an older state of it may be replayed again. */
  private void processUnknown() {
    boolean clearing = clearAfterwards;
    beginAnew("a replay no longer shows batch " + replay.from());
    clearAfterwards = clearing && state != State.FOLLOWING;
  }

  // The end of a replay.

  private void answered(State ended) {
    if (lifetime.started() && proof == Proof.NONE) {
      processUnknown();
      return;
    }
    lifetime.answered(proof == Proof.SAME_PROCESS);
    if (!lifetime.started() && !droppedLive) {
      cache.complete();
    }
    if (ended != State.REPAIRING) {
      checked(ended);
    }
    if (cache.mayBeReplayed() && lifetime.continuity().isDecided()) {
      askForLost();
      return;
    }
    StreamMessage first = waiting.first();
    if (first != null && first.sequence() > lifetime.next() && isLastFruitless()) {
      giveUp();
    }
    clearAfterwards &= ended != State.CHECKING;
    drain();
  }

  /**
   * The connection is silent if a check brought batches, and nothing was heard since the one before
   * it.
   */
  private void checked(State ended) {
    boolean isSilent = ended == State.FOUND && !heardSinceCheck;
    heardSinceCheck = false;
    if (isSilent) {
      counters.add(StreamCounter.SILENT_CONNECTIONS);
      sockets.reopen();
    }
  }

  /** All is asked for again: what is suspended and still held is stored, or shown, on the way. */
  private void askForLost() {
    String why = "the replay socket answers again";
    cache.mayBeReplayed(false);
    cache.suspend(why);
    lifetime.rewind();
    startOver();
    repair(why);
  }

  private void unanswered(State ended) {
    if (ended == State.CHECKING) {
      clearAfterwards = false; // what was heard meanwhile is newer
    } else if (!isLastFruitless()) {
      repair(replay.why());
    } else {
      giveUp();
      drain();
    }
  }

  /** The engine is not asked again for a while, and what is missing counts as lost. */
  private void giveUp() {
    rest();
    refuseRestored();
    cache.mayBeReplayed(true);
    StreamMessage first = waiting.first();
    if (lifetime.started() && first != null && first.sequence() > lifetime.next()) {
      cache.batchesLostBefore(first.sequence());
    } else if (lifetime.started()) {
      cache.eventsLost(replay.why() + " and no replay answers");
    }
  }

  /** Takes up what waits, until one of it has to wait again. */
  private void drain() {
    while (state == State.FOLLOWING) {
      StreamMessage batch = waiting.poll();
      if (batch == null) {
        if (clearAfterwards) {
          clearAfterwards = false;
          cache.clear();
        }
        requestRefused();
        return;
      }
      if (!lifetime.beganBehind(batch)) {
        boolean others = waiting.first() != null;
        route(batch);
        requestDropped(others && waiting.first() == null);
      }
    }
  }

  /** Asks for batches that waited and were dropped when a new lifetime began. */
  private void requestDropped(boolean dropped) {
    if (dropped && state == State.FOLLOWING) {
      replayOrLose("live batches were dropped");
    }
  }

  /** Asks for what was refused for lack of room. */
  private void requestRefused() {
    if (refusedLive) {
      refusedLive = false;
      replayOrLose("there was no room for live batches");
    }
  }

  // A new lifetime.

  /** The process is another one, or cannot be shown to be the same: everything is asked again. */
  private void beginAnew(String why) {
    newLifetime(why);
    replayIfPossible(why);
  }

  /** The process is another one, or what is held must not be believed any more. */
  private void newLifetime(String why) {
    clearAfterwards = false;
    cache.end(why);
    startOver();
  }

  private void startOver() {
    droppedLive = waiting.first() != null;
    waiting.clear();
    state = State.FOLLOWING;
  }

  /** What was restored cannot be shown to be true by a replay. */
  private void refuseRestored() {
    if (lifetime.isStartKnown()) {
      lifetime.awaitStart();
    } else if (!lifetime.continuity().isDecided()) {
      cache.forget(EngineFate.NO_ANSWER, "restored from a snapshot, and no replay answers");
      startOver();
    }
  }

  // Questions.

  /** Whether a question is under way. */
  private boolean isAsking() {
    return state != State.FOLLOWING && state != State.JOINING;
  }

  /** Whether what comes live has to wait for what a replay brings. */
  private boolean isRepairing() {
    return state == State.REPAIRING || state == State.FOUND;
  }

  /** Whether the engine can be asked now. */
  private boolean mayAsk() {
    return sockets.canReplay() && isOver(restUntilNanos);
  }

  /** Asks for all that is missing before a live batch, which waits. */
  private void replayBefore(StreamMessage batch, String why) {
    waiting.putBack(batch);
    repair(why);
  }

  /** After a reconnect or a known loss: asks for what was missed, or counts it as lost. */
  private void replayOrLose(String why) {
    if (mayAsk()) {
      repair(why);
    } else {
      refuseRestored();
      cache.mayBeReplayed(sockets.canReplay());
      cache.eventsLost(why + ", and no replay");
    }
  }

  private void replayIfPossible(String why) {
    if (mayAsk()) {
      repair(why);
    }
  }

  /** Asks for all that is missing. */
  private void repair(String why) {
    ask(State.REPAIRING, why);
  }

  /** Asks whether something is missing, if nothing else is asked. */
  private void check(String why) {
    if (cache.isConnected() && state == State.FOLLOWING && mayAsk()) {
      retryAtNanos = in(limits.replayCooldown());
      checkAtNanos = in(limits.checkInterval());
      ask(State.CHECKING, why);
      updateTrust();
    }
  }

  /** An earlier question is void. */
  private void ask(State purpose, String why) {
    replay = new Replay(replay.id() + 1, why, lifetime.replayFrom());
    state = purpose;
    proof = Proof.NONE;
    counters.add(StreamCounter.REPLAYS);
    sockets.replay(replay.id(), replay.from(), purpose == State.REPAIRING);
  }

  /** Counts an attempt that brought nothing; whether it was the last one. */
  private boolean isLastFruitless() {
    return ++fruitless >= limits.replayAttempts();
  }

  /** Asks no more for a while. */
  private void rest() {
    fruitless = 0;
    restUntilNanos = in(limits.replayCooldown());
  }

  private long in(Duration time) {
    return nanoClock.getAsLong() + time.toNanos();
  }

  private boolean isOver(long nanos) {
    return nanoClock.getAsLong() - nanos >= 0;
  }

  /** Live batches that wait for the end of a replay, in the order of their numbers. */
  private static final class WaitingBatches {

    private final StreamLimits limits;
    private final Deque<StreamMessage> batches = new ArrayDeque<>();
    private long bytes;
    private volatile int count;

    WaitingBatches(StreamLimits limits) {
      this.limits = limits;
    }

    /** May be asked by any thread. */
    int count() {
      return count;
    }

    /** Whether there was room. */
    boolean add(StreamMessage batch) {
      int length = batch.payload().length;
      if (batches.size() >= limits.bufferedBatches() || bytes + length > limits.bufferedBytes()) {
        return false;
      }
      bytes += length;
      batches.addLast(batch);
      count = batches.size();
      return true;
    }

    /** Puts back what {@link #poll} took; there is always room for that. */
    void putBack(StreamMessage batch) {
      bytes += batch.payload().length;
      batches.addFirst(batch);
      count = batches.size();
    }

    @Nullable StreamMessage poll() {
      StreamMessage first = batches.pollFirst();
      if (first != null) {
        bytes -= first.payload().length;
        count = batches.size();
      }
      return first;
    }

    @Nullable StreamMessage first() {
      return batches.peekFirst();
    }

    /** How a batch stands to the last one: UNKNOWN if it may come next. */
    Verdict compare(StreamMessage batch) {
      StreamMessage last = batches.peekLast();
      return last == null || batch.sequence() > last.sequence()
          ? Verdict.UNKNOWN
          : BatchDigests.compare(last, batch);
    }

    void clear() {
      batches.clear();
      bytes = 0;
      count = 0;
    }
  }
}
