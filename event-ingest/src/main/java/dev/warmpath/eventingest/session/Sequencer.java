package dev.warmpath.eventingest.session;

import dev.warmpath.eventingest.count.StreamCounter;
import dev.warmpath.eventingest.count.StreamCounters;
import dev.warmpath.eventingest.session.BatchDigests.Verdict;
import dev.warmpath.eventingest.session.ReplayAsker.Progress;
import dev.warmpath.eventingest.session.ReplayAsker.Purpose;
import dev.warmpath.eventingest.snapshot.EngineFate;
import dev.warmpath.eventingest.wire.StreamMessage;
import org.jspecify.annotations.Nullable;

/**
 * Applies one engine's batches in order: asks the replay socket for what is missing, keeps live
 * batches meanwhile, and finds out by its answers whether the process is still the same.
 *
 * <p>A replay begins one batch early: that batch proves by its bytes that the engine's process is
 * still the same.
 *
 * <p>Confined to the writer.
 */
final class Sequencer {

  private final KnownCache cache;
  private final Lifetime lifetime;
  private final StreamSockets sockets;
  private final ReplayAsker asker;
  private final StreamCounters counters;
  private final LiveBuffer buffer;

  /** Whether to clear the cache behind the running replay: it was reported empty meanwhile. */
  private boolean clearAfterwards;

  /** Whether live batches were refused since the last question. */
  private boolean refusedLive;

  /** Whether live batches were dropped that a replay must bring before all is known. */
  private boolean droppedLive;

  Sequencer(
      KnownCache cache,
      Lifetime lifetime,
      ReplayAsker asker,
      LiveBuffer buffer,
      StreamCounters counters) {
    this.cache = cache;
    this.lifetime = lifetime;
    this.asker = asker;
    sockets = asker.sockets();
    this.buffer = buffer;
    this.counters = counters;
  }

  /** Whether a replay is under way. */
  boolean isRunning() {
    return asker.current() != null;
  }

  /** Why a replay runs that may bring what is missing, or null if none does. */
  @Nullable String repairing() {
    Progress current = asker.current();
    return current != null && current.repairs() ? current.why : null;
  }

  /** Whether the engine can be asked now. */
  boolean mayAsk() {
    return asker.mayAsk();
  }

  /** Whether the moment has come for which the cache was said to be empty. */
  boolean isClearing() {
    return clearAfterwards;
  }

  /** The cache is empty now, whatever a running replay brings. */
  void cleared() {
    clearAfterwards = isRunning();
  }

  /** Asks for all that is missing. */
  void requestReplay(String why) {
    ask(Purpose.REPAIR, why);
  }

  /** Asks for all that is missing before a live batch, which waits. */
  private void requestReplayBefore(StreamMessage batch, String why) {
    buffer.putBack(batch);
    requestReplay(why);
  }

  /** Asks whether something is missing. */
  void check(String why) {
    asker.checking();
    ask(Purpose.CHECK, why);
  }

  /** After a reconnect or a known loss: asks for what was missed, or counts it as lost. */
  void replayOrLose(String why) {
    if (mayAsk()) {
      requestReplay(why);
    } else {
      refuseRestored();
      cache.mayBeReplayed(sockets.canReplay());
      cache.eventsLost(why + ", and no replay");
    }
  }

  /** The process is another one, or what is held must not be believed any more. */
  void newLifetime(String why) {
    clearAfterwards = false;
    cache.end(why);
    startOver();
  }

  /** Nothing that is known can be believed, and live batches may have been dropped. */
  void forget(String why) {
    clearAfterwards = false;
    cache.forget(EngineFate.NO_ANSWER, why);
    startOver();
    droppedLive = true;
  }

  /** Live messages were refused for lack of room. */
  void liveRefused() {
    refusedLive = true;
    if (repairing() == null) {
      requestRefused();
    }
  }

  /** One message of the live connection. */
  void live(StreamMessage batch) {
    if (lifetime.isUnproven() && !isRunning()) {
      replayOrLose("restored from a snapshot");
    }
    if (repairing() != null) {
      keep(batch);
    } else {
      route(batch);
    }
  }

  /** Applies a batch, or finds out why it cannot be applied yet. */
  private void route(StreamMessage batch) {
    long sequence = batch.sequence();
    if (!lifetime.started()) {
      begin(batch);
    } else if (sequence == lifetime.next()) {
      cache.apply(batch);
    } else if (sequence > lifetime.next()) {
      gap(batch);
    } else {
      behind(batch, lifetime.compare(batch));
    }
  }

  private void begin(StreamMessage batch) {
    if (batch.sequence() > 0 && mayAsk()) {
      requestReplayBefore(batch, "joined at batch " + batch.sequence());
      return;
    }
    cache.begin(batch.sequence(), "joined");
    if (batch.sequence() > 0) {
      cache.mayBeReplayed(sockets.canReplay());
    }
    cache.apply(batch);
  }

  private void gap(StreamMessage batch) {
    counters.add(StreamCounter.GAPS);
    if (mayAsk()) {
      requestReplayBefore(batch, "batch " + lifetime.next() + " is missing");
    } else {
      cache.mayBeReplayed(sockets.canReplay());
      cache.batchesLostBefore(batch.sequence());
      cache.apply(batch);
    }
  }

  private void behind(StreamMessage batch, Verdict verdict) {
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
    lifetime.start().unsure();
    replayOrLose("batch " + batch.sequence() + " came late");
  }

  /** Keeps a live batch until the replay is over. */
  private void keep(StreamMessage batch) {
    boolean isOld = lifetime.started() && batch.sequence() < lifetime.next();
    Verdict verdict = isOld ? lifetime.compare(batch) : buffer.compare(batch);
    if (verdict == Verdict.SAME) {
      counters.add(StreamCounter.DUPLICATES);
    } else if (isOld || verdict == Verdict.OTHER) {
      boolean others = buffer.first() != null;
      newLifetime("sequence went back to " + batch.sequence());
      route(batch);
      requestDropped(others);
    } else if (!buffer.add(batch)) {
      counters.add(StreamCounter.BUFFER_OVERFLOWS);
      refusedLive = true;
    }
  }

  /** One batch of the answer. */
  void replayed(Progress current, StreamMessage batch) {
    if (!lifetime.started() || batch.sequence() >= lifetime.next()) {
      replayedNew(current, batch);
    } else {
      replayedOld(current, batch);
    }
  }

  /** The answer is over, or will not come. */
  void ended(Progress current, boolean whole) {
    asker.end();
    if (whole) {
      answered(current);
    } else {
      counters.add(StreamCounter.REPLAY_FAILURES);
      failed(current);
    }
  }

  private void replayedOld(Progress current, StreamMessage batch) {
    Verdict verdict = lifetime.compare(batch);
    if (verdict == Verdict.OTHER) {
      beginAnew("a replay shows another batch " + batch.sequence());
    } else if (verdict == Verdict.SAME && batch.sequence() == current.from) {
      current.verified = true;
      current.sameProcess = true;
      lifetime.decided(EngineFate.KEPT, "batch " + current.from + " is the same");
    }
  }

  private void replayedNew(Progress current, StreamMessage batch) {
    // While the connection lasts, it vouches for the process that the replay is of.
    boolean same =
        cache.isConnected()
            && !lifetime.continuity().isBroken()
            && current.purpose == Purpose.REPAIR;
    if (lifetime.started() && !current.verified && !same && !outOfReach(current)) {
      return;
    }
    if (!lifetime.started()) {
      cache.begin(batch.sequence(), "the replay begins");
    } else if (batch.sequence() > lifetime.next()) {
      cache.batchesLostBefore(batch.sequence());
    }
    current.verified = true;
    current.fruitful = true;
    counters.add(StreamCounter.REPLAYED_BATCHES);
    cache.apply(batch);
  }

  /** The replay begins too late to show the process; whether to go on all the same. */
  private boolean outOfReach(Progress current) {
    if (lifetime.start().isKnown()) {
      lifetime.awaitStart();
      cache.eventsLost("a replay no longer shows batch " + current.from);
      return true;
    }
    lifetime.decided(EngineFate.OUT_OF_REACH, "the replay begins behind batch " + current.from);
    processUnknown("a replay no longer shows batch " + current.from);
    return false;
  }

  /** The process cannot be shown to be the same; an older state of it may be replayed again. */
  private void processUnknown(String why) {
    boolean clearing = clearAfterwards;
    beginAnew(why);
    clearAfterwards = clearing && isRunning();
  }

  /** The process is another one, or cannot be shown to be the same: everything is asked again. */
  private void beginAnew(String why) {
    newLifetime(why);
    if (mayAsk()) {
      requestReplay(why);
    }
  }

  private void answered(Progress current) {
    if (lifetime.started() && !current.verified) {
      processUnknown("a replay no longer shows batch " + current.from);
      return;
    }
    lifetime.answered(current.sameProcess);
    if (!lifetime.started() && !droppedLive) {
      cache.complete();
    }
    if (current.purpose == Purpose.CHECK && asker.isSilent(current.fruitful)) {
      counters.add(StreamCounter.SILENT_CONNECTIONS);
      sockets.reopen();
    }
    if (cache.mayBeReplayed() && lifetime.continuity().isDecided()) {
      retryLostBatches("the replay socket answers again");
      return;
    }
    StreamMessage first = buffer.first();
    if (first != null && first.sequence() > lifetime.next() && asker.countFruitless()) {
      giveUp(current);
    }
    clearAfterwards &= current.repairs();
    drain();
  }

  /** All is asked for again: what is suspended and still held is stored, or shown, on the way. */
  private void retryLostBatches(String why) {
    cache.mayBeReplayed(false);
    cache.suspend(why);
    lifetime.rewind();
    startOver();
    requestReplay(why);
  }

  private void failed(Progress current) {
    if (!current.repairs()) {
      clearAfterwards = false; // what was heard meanwhile is newer
    } else if (!asker.countFruitless()) {
      requestReplay(current.why);
    } else {
      giveUp(current);
      drain();
    }
  }

  /** The engine is not asked again for a while, and what is missing counts as lost. */
  private void giveUp(Progress current) {
    asker.rest();
    refuseRestored();
    cache.mayBeReplayed(true);
    StreamMessage first = buffer.first();
    if (lifetime.started() && first != null && first.sequence() > lifetime.next()) {
      cache.batchesLostBefore(first.sequence());
    } else if (lifetime.started()) {
      cache.eventsLost(current.why + " and no replay answers");
    }
  }

  private void drain() {
    while (!isRunning()) {
      StreamMessage batch = buffer.poll();
      if (batch == null) {
        if (clearAfterwards) {
          clearAfterwards = false;
          cache.clear();
        }
        requestRefused();
        return;
      }
      if (!lifetime.beganBehind(batch)) {
        boolean others = buffer.first() != null;
        route(batch);
        requestDropped(others && buffer.first() == null);
      }
    }
  }

  /** Asks for batches that waited and were dropped when a new lifetime began. */
  private void requestDropped(boolean dropped) {
    if (dropped && !isRunning()) {
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

  /** What was restored cannot be shown to be true by a replay. */
  private void refuseRestored() {
    if (lifetime.start().isKnown()) {
      lifetime.awaitStart();
    } else if (!lifetime.continuity().isDecided()) {
      cache.forget(EngineFate.NO_ANSWER, "restored from a snapshot, and no replay answers");
      startOver();
    }
  }

  private void startOver() {
    droppedLive = buffer.first() != null;
    buffer.clear();
    asker.end();
  }

  private void ask(Purpose purpose, String why) {
    asker.ask(purpose, why, lifetime.replayFrom());
  }
}
