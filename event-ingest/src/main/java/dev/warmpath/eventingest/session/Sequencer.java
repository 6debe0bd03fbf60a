package dev.warmpath.eventingest.session;

import dev.warmpath.eventingest.count.StreamCounter;
import dev.warmpath.eventingest.count.StreamCounters;
import dev.warmpath.eventingest.session.BatchDigests.Verdict;
import dev.warmpath.eventingest.session.ReplayAsker.Progress;
import dev.warmpath.eventingest.session.ReplayAsker.Purpose;
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
  private final StreamSockets port;
  private final ReplayAsker asker;
  private final StreamCounters counters;
  private final LiveBuffer buffer;

  /** Whether to clear the cache behind the running replay: it was reported empty meanwhile. */
  private boolean clearAfterwards;

  /** Whether live batches were refused since the last question. */
  private boolean missed;

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
    port = asker.port();
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
  void repair(String why) {
    ask(Purpose.REPAIR, why);
  }

  /** Asks for all that is missing before a live batch, which waits. */
  private void repairBefore(StreamMessage batch, String why) {
    buffer.putBack(batch);
    repair(why);
  }

  /** Asks whether something is missing. */
  void probe(String why) {
    asker.probing();
    ask(Purpose.PROBE, why);
  }

  /** After a reconnect or a known loss: is it the same process, and was anything missed? */
  void verify(String why) {
    if (mayAsk()) {
      repair(why);
    } else {
      refuseUnproven();
      cache.healable(port.canReplay());
      cache.lose(why + ", and no replay");
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
  void missed() {
    missed = true;
    if (repairing() == null) {
      makeUp();
    }
  }

  /** One message of the live connection. */
  void live(StreamMessage batch) {
    if (!lifetime.isProven() && !lifetime.start().isAwaited() && !isRunning()) {
      verify("restored from a snapshot");
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
      repairBefore(batch, "joined at batch " + batch.sequence());
      return;
    }
    cache.begin(batch.sequence(), "joined");
    if (batch.sequence() > 0) {
      cache.healable(port.canReplay());
    }
    cache.apply(batch);
  }

  private void gap(StreamMessage batch) {
    counters.add(StreamCounter.GAPS);
    if (mayAsk()) {
      repairBefore(batch, "batch " + lifetime.next() + " is missing");
    } else {
      cache.healable(port.canReplay());
      cache.giveUpTo(batch.sequence());
      cache.apply(batch);
    }
  }

  private void behind(StreamMessage batch, Verdict verdict) {
    if (verdict == Verdict.SAME) {
      counters.add(StreamCounter.DUPLICATES);
      port.applied(batch); // a replay has brought it while it waited
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
    verify("batch " + batch.sequence() + " came late");
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
      makeUpFor(others);
    } else if (!buffer.add(batch)) {
      counters.add(StreamCounter.BUFFER_OVERFLOWS);
      missed = true;
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
      anew("a replay shows another batch " + batch.sequence());
    } else if (verdict == Verdict.SAME && batch.sequence() == current.from) {
      current.verified = true;
      current.sameProcess = true;
      lifetime.decided(EngineFate.KEPT, "batch " + current.from + " is the same");
    }
  }

  private void replayedNew(Progress current, StreamMessage batch) {
    // While the connection lasts, it vouches for the process that the replay is of.
    boolean same = cache.isConnected() && !lifetime.isBroken() && current.purpose == Purpose.REPAIR;
    if (lifetime.started() && !current.verified && !same && !outOfReach(current)) {
      return;
    }
    if (!lifetime.started()) {
      cache.begin(batch.sequence(), "the replay begins");
    } else if (batch.sequence() > lifetime.next()) {
      cache.giveUpTo(batch.sequence());
    }
    current.verified = true;
    current.fruitful = true;
    counters.add(StreamCounter.REPLAYED_BATCHES);
    cache.apply(batch);
  }

  /** The replay begins too late to show the process; whether to go on all the same. */
  private boolean outOfReach(Progress current) {
    if (lifetime.start().isKnown()) {
      awaitStart();
      cache.lose("a replay no longer shows batch " + current.from);
      return true;
    }
    lifetime.decided(EngineFate.OUT_OF_REACH, "the replay begins behind batch " + current.from);
    unknown("a replay no longer shows batch " + current.from);
    return false;
  }

  /** The process cannot be shown to be the same; an older state of it may be replayed again. */
  private void unknown(String why) {
    boolean clearing = clearAfterwards;
    anew(why);
    clearAfterwards = clearing && isRunning();
  }

  /** The process is another one, or cannot be shown to be the same: everything is asked again. */
  private void anew(String why) {
    newLifetime(why);
    if (mayAsk()) {
      repair(why);
    }
  }

  private void answered(Progress current) {
    if (lifetime.started() && !current.verified) {
      unknown("a replay no longer shows batch " + current.from);
      return;
    }
    lifetime.answered(current.sameProcess);
    if (!lifetime.started() && !droppedLive) {
      cache.complete();
    }
    if (current.purpose == Purpose.PROBE && asker.isSilent(current.fruitful)) {
      counters.add(StreamCounter.SILENT_CONNECTIONS);
      port.reopen();
    }
    if (cache.healable()) {
      heal("the replay socket answers again");
      return;
    }
    StreamMessage first = buffer.first();
    if (first != null && first.sequence() > lifetime.next() && asker.countFruitless()) {
      giveUp(current);
    }
    clearAfterwards &= current.repairs();
    drain();
  }

  /** All is asked for again: what is suspended and still there is stored, or shown, on the way. */
  private void heal(String why) {
    cache.healable(false);
    cache.suspend(why);
    lifetime.end();
    startOver();
    repair(why);
  }

  private void failed(Progress current) {
    if (!current.repairs()) {
      clearAfterwards = false; // what was heard meanwhile is newer
    } else if (!asker.countFruitless()) {
      repair(current.why);
    } else {
      giveUp(current);
      drain();
    }
  }

  /** The engine is not asked again for a while, and what is missing counts as lost. */
  private void giveUp(Progress current) {
    asker.rest();
    refuseUnproven();
    cache.healable(true);
    StreamMessage first = buffer.first();
    if (lifetime.started() && first != null && first.sequence() > lifetime.next()) {
      cache.giveUpTo(first.sequence());
    } else if (lifetime.started()) {
      cache.lose(current.why + " and no replay answers");
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
        makeUp();
        return;
      }
      if (!lifetime.beganBehind(batch)) {
        boolean others = buffer.first() != null;
        route(batch);
        makeUpFor(others && buffer.first() == null);
      }
    }
  }

  /** Asks for batches that waited and were dropped when a new lifetime began. */
  private void makeUpFor(boolean dropped) {
    if (dropped && !isRunning()) {
      verify("live batches were dropped");
    }
  }

  /** Asks for what was refused for lack of room. */
  private void makeUp() {
    if (missed) {
      missed = false;
      verify("there was no room for live batches");
    }
  }

  /** No replay vouches for what was restored; the caller suspends it. */
  private void awaitStart() {
    if (!lifetime.isProven()) {
      lifetime.awaitStart();
    }
  }

  /** What was restored cannot be shown to be true by a replay. */
  private void refuseUnproven() {
    if (lifetime.start().isKnown()) {
      awaitStart();
    } else if (!lifetime.isProven()) {
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
