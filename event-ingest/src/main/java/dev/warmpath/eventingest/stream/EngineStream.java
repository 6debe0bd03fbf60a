package dev.warmpath.eventingest.stream;

import dev.warmpath.eventingest.TrustState;
import dev.warmpath.eventingest.apply.EventApplier;
import dev.warmpath.eventingest.apply.EventApplier.Effect;
import dev.warmpath.eventingest.count.StreamCounter;
import dev.warmpath.eventingest.count.StreamCounters;
import dev.warmpath.eventingest.stream.BatchDigests.Verdict;
import dev.warmpath.eventingest.stream.ReplayAsker.Progress;
import dev.warmpath.eventingest.stream.ReplayAsker.Purpose;
import dev.warmpath.eventingest.wire.KvEventBatch;
import dev.warmpath.eventingest.wire.WireException;
import dev.warmpath.eventingest.wire.decode.KvEventDecoder;
import java.time.Clock;
import java.time.Instant;

/**
 * Keeps one engine's batches in order and complete, or else forgets what the engine held.
 *
 * <p>Sequence numbers begin at 0 with each lifetime of the engine's process. A jump is repaired by
 * a replay, which begins one batch early: that batch proves by its bytes that the process is still
 * the same. What no replay brings back is lost; then the engine is cleared, because removals may
 * have been among it, and learns anew from what follows. {@link #trust} says what that leaves to
 * believe.
 *
 * <p>Confined to the writer; {@link #trust} and {@link #lastSequence} may be read by any thread.
 */
public final class EngineStream {

  /*
   *            first batch is 0                    jump, reconnect, silence
   *   silent ───────────────────▶ live ◀──────────────────────────────────▶ replaying
   *     │  first batch is not 0                      end, or attempts used up: lost
   *     └──────────────────────────────────────────────────────────────────────▲
   *
   * I1  every batch below `next` in this lifetime was applied, or counted as lost and followed by a clear
   * I2  `belief` is complete only if nothing was lost since the engine held nothing
   * I3  while a replay is under way no live batch is applied; they wait in `buffer`
   */

  private final EventApplier applier;
  private final KvEventDecoder decoder = new KvEventDecoder();
  private final EnginePort port;
  private final StreamLimits limits;
  private final Clock clock;
  private final StreamCounters counters;
  private final int dpRank;
  private final LiveBuffer buffer;
  private final BatchDigests digests = new BatchDigests();
  private final ReplayAsker replay;

  private final Belief belief;
  private volatile long lastSequence = -1;
  private long next;
  private boolean started;
  private boolean connected;
  private Instant probeAt = Instant.MAX;
  private boolean liveSinceProbe;
  private boolean clearAfterReplay;

  /** Whether live batches were refused since the last question. */
  private boolean missed;

  /** Whether batches were given up only because nobody answered: they may still be there. */
  private boolean healable;

  /** Whether live batches were dropped that a replay must bring before all is known. */
  private boolean droppedLive;

  /** The last batch before the connection was lost, until a replay has vouched for it; or −1. */
  private long lastBeforeLoss = -1;

  /**
   * @param dpRank the rank that the engine's batches should name
   */
  public EngineStream(
      EventApplier applier,
      EnginePort port,
      StreamLimits limits,
      Clock clock,
      StreamCounters counters,
      int dpRank) {
    this.applier = applier;
    this.port = port;
    this.limits = limits;
    this.clock = clock;
    this.counters = counters;
    this.dpRank = dpRank;
    buffer = new LiveBuffer(limits);
    replay = new ReplayAsker(port, limits, clock, counters);
    belief = new Belief(clock);
  }

  /** How far the engine is believed. */
  public TrustState trust() {
    return belief.trust();
  }

  /**
   * Number of the last batch of this lifetime that was applied or given up, −1 before the first.
   */
  public long lastSequence() {
    return lastSequence;
  }

  /** The live connection is up, for the first time or again. */
  public void connected() {
    if (started) {
      counters.add(StreamCounter.RECONNECTS);
    }
    connected = true;
    probeAt = clock.instant().plusSeconds(1);
    liveSinceProbe = false;
    if (started) {
      verify("reconnected");
    } else if (replay.mayAsk()) {
      ask(Purpose.REPAIR, "first contact");
    }
    settleTrust();
  }

  /** The live connection is gone: what the engine does now is not heard. */
  public void disconnected() {
    connected = false;
    if (lastBeforeLoss < 0) {
      lastBeforeLoss = lastSequence;
    }
    probeAt = Instant.MAX;
    settleTrust();
  }

  /** One message of the live connection. */
  public void live(StreamMessage batch) {
    liveSinceProbe = true;
    if (connected) {
      probeAt = clock.instant().plus(limits.probeInterval());
    }
    if (replay.current() == null) {
      route(batch);
    } else {
      keep(batch);
    }
    settleTrust();
  }

  /** Live messages were refused for lack of room; no later one may come to show the gap. */
  public void missed() {
    missed = true;
    if (replay.current() == null) {
      makeUp();
    }
    settleTrust();
  }

  /** One batch of the answer to a replay. */
  public void replayed(long replayId, StreamMessage batch) {
    Progress current = replay.current(replayId);
    if (current == null) {
      return;
    }
    if (!started || batch.sequence() >= next) {
      replayedNew(current, batch);
    } else {
      replayedOld(current, batch);
    }
    settleTrust();
  }

  /**
   * A replay is over.
   *
   * @param whole whether the engine said so; else it fell silent or could not be asked
   */
  public void replayEnded(long replayId, boolean whole) {
    Progress current = replay.current(replayId);
    if (current == null) {
      return;
    }
    replay.end();
    if (whole) {
      ended(current);
    } else {
      counters.add(StreamCounter.REPLAY_FAILURES);
      failed(current);
    }
    settleTrust();
  }

  /** The engine's cache is known to be empty although its own event may come late. */
  public void cleared(String why) {
    applier.clear();
    if (started) {
      belief.complete();
    }
    clearAfterReplay = replay.current() != null;
    settleTrust();
  }

  /** The engine's process is known to be gone or new. */
  public void restarted(String why) {
    newLifetime(why);
    if (connected && replay.mayAsk()) {
      ask(Purpose.REPAIR, why);
    }
    settleTrust();
  }

  /** Lets time pass: after a silence the replay socket is asked whether something was missed. */
  public void tick() {
    if (connected && replay.current() == null && replay.mayAsk() && probeDue()) {
      probeAt = clock.instant().plus(limits.probeInterval());
      ask(Purpose.PROBE, "silence");
      settleTrust();
    }
  }

  private boolean probeDue() {
    return healable || !clock.instant().isBefore(probeAt);
  }

  /** Applies a batch, or finds out why it cannot be applied yet. */
  private void route(StreamMessage batch) {
    long sequence = batch.sequence();
    if (!started) {
      begin(batch);
    } else if (sequence == next) {
      apply(batch);
    } else if (sequence > next) {
      gap(batch);
    } else if (digests.compare(batch) == Verdict.SAME) {
      counters.add(StreamCounter.DUPLICATES);
    } else {
      newLifetime("sequence went back from " + (next - 1) + " to " + sequence);
      begin(batch);
    }
  }

  private void begin(StreamMessage batch) {
    if (batch.sequence() == 0) {
      belief.complete();
      apply(batch);
    } else if (replay.mayAsk()) {
      buffer.putBack(batch);
      ask(Purpose.REPAIR, "joined at batch " + batch.sequence());
    } else {
      joinedLate(batch);
    }
  }

  private void joinedLate(StreamMessage batch) {
    belief.incomplete("joined at batch " + batch.sequence());
    healable = port.canReplay();
    counters.add(StreamCounter.LOST_BATCHES, batch.sequence());
    apply(batch);
  }

  private void gap(StreamMessage batch) {
    counters.add(StreamCounter.GAPS);
    if (replay.mayAsk()) {
      buffer.putBack(batch);
      ask(Purpose.REPAIR, "batch " + next + " is missing");
    } else {
      healable = port.canReplay();
      lost(batch.sequence());
      apply(batch);
    }
  }

  /** Gives up the batches from {@code next} to the one before {@code sequence}. */
  private void lost(long sequence) {
    counters.add(StreamCounter.LOST_BATCHES, sequence - next);
    forget("lost batches " + next + " to " + (sequence - 1));
    next = sequence;
  }

  private void forget(String why) {
    applier.clear();
    belief.incomplete(why);
  }

  private void newLifetime(String why) {
    counters.add(StreamCounter.RESTARTS);
    startOver(why);
  }

  private void startOver(String why) {
    healable = false;
    applier.reset();
    digests.clear();
    lastBeforeLoss = -1;
    droppedLive = buffer.first() != null;
    buffer.clear();
    replay.end();
    next = 0;
    lastSequence = -1;
    started = false;
    belief.incomplete(why);
  }

  private void apply(StreamMessage batch) {
    started = true;
    droppedLive = false;
    next = batch.sequence() + 1;
    lastSequence = batch.sequence();
    digests.put(batch);
    try {
      apply(decoder.decode(batch.payload()), batch.sequence());
    } catch (WireException e) {
      counters.add(StreamCounter.UNDECODABLE_BATCHES);
      forget("batch " + batch.sequence() + " could not be read: " + e.getMessage());
    }
  }

  private void apply(KvEventBatch batch, long sequence) {
    counters.add(StreamCounter.BATCHES);
    if (batch.dataParallelRank() >= 0 && batch.dataParallelRank() != dpRank) {
      counters.add(StreamCounter.RANK_MISMATCHES);
    }
    batch.skipped().values().forEach(n -> counters.add(StreamCounter.SKIPPED_EVENTS, n));
    Effect effect = applier.apply(batch);
    if (batch.mayHideRemovals()) {
      forget("an event of batch " + sequence + " could not be read: " + batch.firstProblem());
    } else if (effect == Effect.EMPTIED) {
      belief.complete();
      healable = false;
    } else if (effect == Effect.FORGOTTEN) {
      belief.incomplete("block size changed in batch " + sequence);
    }
  }

  /** Keeps a live batch until the replay is over. */
  private void keep(StreamMessage batch) {
    StreamMessage last = buffer.last();
    if (started && batch.sequence() < next) {
      keepOld(batch, digests.compare(batch));
    } else if (last != null && batch.sequence() <= last.sequence()) {
      keepOld(batch, BatchDigests.compare(last, batch));
    } else if (!buffer.add(batch)) {
      counters.add(StreamCounter.BUFFER_OVERFLOWS);
      missed = true;
    }
  }

  private void keepOld(StreamMessage batch, Verdict verdict) {
    if (verdict == Verdict.SAME) {
      counters.add(StreamCounter.DUPLICATES);
    } else {
      newLifetime("sequence went back to " + batch.sequence());
      begin(batch);
    }
  }

  private void replayedOld(Progress current, StreamMessage batch) {
    Verdict verdict = digests.compare(batch);
    if (verdict == Verdict.OTHER) {
      anew("a replay shows another batch " + batch.sequence());
    } else if (verdict == Verdict.SAME && batch.sequence() == current.from) {
      current.verified = true;
    }
  }

  private void replayedNew(Progress current, StreamMessage batch) {
    if (started && !current.verified) {
      anew("a replay no longer shows batch " + current.from);
      return;
    }
    if (!started) {
      beginReplayed(batch.sequence());
      counters.add(StreamCounter.LOST_BATCHES, batch.sequence());
    } else if (batch.sequence() > next) {
      lost(batch.sequence());
    }
    current.verified = true;
    current.fruitful = true;
    counters.add(StreamCounter.REPLAYED_BATCHES);
    apply(batch);
  }

  private void beginReplayed(long sequence) {
    if (sequence == 0) {
      belief.complete();
    } else {
      belief.incomplete("the replay begins at batch " + sequence);
    }
  }

  /** The process is another one, or cannot be shown to be the same: everything is asked again. */
  private void anew(String why) {
    newLifetime(why);
    if (replay.mayAsk()) {
      ask(Purpose.REPAIR, why);
    }
  }

  private void ended(Progress current) {
    if (started && !current.verified) {
      anew("a replay no longer shows batch " + current.from);
      return;
    }
    lastBeforeLoss = -1;
    if (!started && !droppedLive) {
      belief.complete();
    }
    if (current.purpose == Purpose.PROBE) {
      probed(current);
    }
    if (healable) {
      startOver("the replay socket answers again");
      ask(Purpose.REPAIR, belief.why());
      return;
    }
    StreamMessage first = buffer.first();
    if (first != null && first.sequence() > next && replay.exhausted()) {
      giveUp(current);
    }
    drain();
  }

  private void failed(Progress current) {
    if (!current.repairs()) {
      drain();
    } else if (!replay.exhausted()) {
      ask(Purpose.REPAIR, current.why);
    } else {
      giveUp(current);
      drain();
    }
  }

  /** The engine is not asked again for a while, and what is missing counts as lost. */
  private void giveUp(Progress current) {
    replay.rest();
    healable = true;
    StreamMessage first = buffer.first();
    if (started && first != null && first.sequence() > next) {
      lost(first.sequence());
    } else if (started) {
      forget(current.why + " and no replay answers");
    }
  }

  /** Batches that only a replay brings, twice in a row, mean that the connection is deaf. */
  private void probed(Progress current) {
    if (current.fruitful && !liveSinceProbe) {
      counters.add(StreamCounter.DEAF_CONNECTIONS);
      port.reopen();
    }
    liveSinceProbe = false;
  }

  private void drain() {
    while (replay.current() == null) {
      StreamMessage batch = buffer.poll();
      if (batch == null) {
        clearOnceMore();
        makeUp();
        return;
      }
      route(batch);
    }
  }

  /**
   * What a replay brought may be older than the moment at which the cache was known to be empty.
   */
  private void clearOnceMore() {
    if (clearAfterReplay) {
      clearAfterReplay = false;
      applier.clear();
    }
  }

  /** Asks for what was refused for lack of room. */
  private void makeUp() {
    if (missed) {
      missed = false;
      verify("there was no room for live batches");
    }
  }

  /** After a reconnect or a known loss: is it the same process, and was anything missed? */
  private void verify(String why) {
    if (replay.mayAsk()) {
      ask(Purpose.REPAIR, why);
    } else {
      healable = port.canReplay();
      forget(why + ", and no replay");
    }
  }

  private void ask(Purpose purpose, String why) {
    long known = lastBeforeLoss < 0 ? next - 1 : lastBeforeLoss;
    long from = started ? known : 0;
    replay.ask(purpose, why, from);
  }

  private void settleTrust() {
    belief.settle(started, connected, replay.current());
  }
}
