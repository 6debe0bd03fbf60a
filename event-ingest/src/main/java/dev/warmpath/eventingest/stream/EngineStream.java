package dev.warmpath.eventingest.stream;

import dev.warmpath.eventingest.TrustState;
import dev.warmpath.eventingest.apply.EventApplier;
import dev.warmpath.eventingest.count.StreamCounter;
import dev.warmpath.eventingest.count.StreamCounters;
import dev.warmpath.eventingest.stream.BatchDigests.Verdict;
import dev.warmpath.eventingest.stream.ReplayAsker.Progress;
import dev.warmpath.eventingest.stream.ReplayAsker.Purpose;
import dev.warmpath.eventingest.stream.ResumeListener.Outcome;
import java.time.Clock;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

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
   * I2  `knowledge` is complete only if nothing was lost since the engine held nothing
   * I3  while a replay is under way no live batch is applied; they wait in `buffer`
   */

  private final EnginePort port;
  private final StreamLimits limits;
  private final Clock clock;
  private final StreamCounters counters;
  private final LiveBuffer buffer;
  private final ReplayAsker replay;
  private final Knowledge knowledge;
  private final Lifetime lifetime = new Lifetime();

  private boolean connected;
  private Instant probeAt = Instant.MAX;
  private boolean liveSinceProbe;
  private boolean clearAfterReplay;

  /** Whether live batches were refused since the last question. */
  private boolean missed;

  /** Whether live batches were dropped that a replay must bring before all is known. */
  private boolean droppedLive;

  /** Who waits to hear whether what was restored is true; null if nothing was, or it is decided. */
  private @Nullable ResumeListener unproven;

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
    this.port = port;
    this.limits = limits;
    this.clock = clock;
    this.counters = counters;
    buffer = new LiveBuffer(limits);
    replay = new ReplayAsker(port, limits, clock, counters);
    knowledge = new Knowledge(applier, clock, counters, dpRank);
  }

  /**
   * Goes on where a stream of another process left off, with what the index has kept; before the
   * first connection. Nothing is applied before a replay has shown that the engine's process is the
   * same; if it does not, all is forgotten.
   */
  public void resume(StreamMemory memory, ResumeListener listener) {
    lifetime.resume(memory.lastSequence(), memory.lastDigest());
    knowledge.resume(memory.gap());
    unproven = listener;
    settleTrust();
  }

  /** What another process needs to go on here, or null if there is nothing to go on from. */
  public @Nullable StreamMemory memory() {
    if (!lifetime.started() || clearAfterReplay) {
      return null;
    }
    long last = lifetime.lastSequence();
    return new StreamMemory(last, lifetime.digest(last), knowledge.gap(), knowledge.learned());
  }

  /** How far the engine is believed. */
  public TrustState trust() {
    return knowledge.trust();
  }

  /**
   * Number of the last batch of this lifetime that was applied or given up, −1 before the first.
   */
  public long lastSequence() {
    return lifetime.lastSequence();
  }

  /** The live connection is up, for the first time or again. */
  public void connected() {
    if (lifetime.started() && unproven == null) {
      counters.add(StreamCounter.RECONNECTS);
    }
    connected = true;
    probeAt = clock.instant().plusSeconds(1);
    liveSinceProbe = false;
    if (lifetime.started()) {
      verify(unproven == null ? "reconnected" : "restored from a snapshot");
    } else if (replay.mayAsk()) {
      ask(Purpose.REPAIR, "first contact");
    }
    settleTrust();
  }

  /** The live connection is gone: what the engine does now is not heard. */
  public void disconnected() {
    connected = false;
    lifetime.unheard();
    probeAt = Instant.MAX;
    settleTrust();
  }

  /** One message of the live connection. */
  public void live(StreamMessage batch) {
    liveSinceProbe = true;
    if (connected) {
      probeAt = clock.instant().plus(limits.probeInterval());
    }
    if (unproven != null && replay.current() == null) {
      verify("restored from a snapshot");
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
    if (!lifetime.started() || batch.sequence() >= lifetime.next()) {
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
    knowledge.clear();
    if (lifetime.started()) {
      knowledge.complete();
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
    return knowledge.healable() || !clock.instant().isBefore(probeAt);
  }

  /** Applies a batch, or finds out why it cannot be applied yet. */
  private void route(StreamMessage batch) {
    long sequence = batch.sequence();
    if (!lifetime.started()) {
      begin(batch);
    } else if (sequence == lifetime.next()) {
      apply(batch);
    } else if (sequence > lifetime.next()) {
      gap(batch);
    } else if (lifetime.compare(batch) == Verdict.SAME) {
      counters.add(StreamCounter.DUPLICATES);
    } else {
      newLifetime("sequence went back from " + (lifetime.next() - 1) + " to " + sequence);
      begin(batch);
    }
  }

  private void begin(StreamMessage batch) {
    if (batch.sequence() == 0) {
      knowledge.complete();
      apply(batch);
    } else if (replay.mayAsk()) {
      buffer.putBack(batch);
      ask(Purpose.REPAIR, "joined at batch " + batch.sequence());
    } else {
      joinedLate(batch);
    }
  }

  private void joinedLate(StreamMessage batch) {
    knowledge.incomplete("joined at batch " + batch.sequence());
    knowledge.healable(port.canReplay());
    counters.add(StreamCounter.LOST_BATCHES, batch.sequence());
    apply(batch);
  }

  private void gap(StreamMessage batch) {
    counters.add(StreamCounter.GAPS);
    if (replay.mayAsk()) {
      buffer.putBack(batch);
      ask(Purpose.REPAIR, "batch " + lifetime.next() + " is missing");
    } else {
      knowledge.healable(port.canReplay());
      lost(batch.sequence());
      apply(batch);
    }
  }

  /** Gives up the batches from the next to the one before {@code sequence}. */
  private void lost(long sequence) {
    counters.add(StreamCounter.LOST_BATCHES, sequence - lifetime.next());
    knowledge.lost("lost batches " + lifetime.next() + " to " + (sequence - 1));
    lifetime.skipTo(sequence);
  }

  private void newLifetime(String why) {
    decided(Outcome.OTHER_LIFETIME, why);
    counters.add(StreamCounter.RESTARTS);
    startOver(why);
  }

  private void startOver(String why) {
    knowledge.reset(why);
    lifetime.end();
    droppedLive = buffer.first() != null;
    buffer.clear();
    replay.end();
  }

  private void apply(StreamMessage batch) {
    droppedLive = false;
    lifetime.add(batch);
    knowledge.apply(batch);
  }

  /** Keeps a live batch until the replay is over. */
  private void keep(StreamMessage batch) {
    StreamMessage last = buffer.last();
    if (lifetime.started() && batch.sequence() < lifetime.next()) {
      keepOld(batch, lifetime.compare(batch));
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
    Verdict verdict = lifetime.compare(batch);
    if (verdict == Verdict.OTHER) {
      anew("a replay shows another batch " + batch.sequence());
    } else if (verdict == Verdict.SAME && batch.sequence() == current.from) {
      current.verified = true;
      decided(Outcome.KEPT, "batch " + current.from + " is the same");
    }
  }

  private void replayedNew(Progress current, StreamMessage batch) {
    if (lifetime.started() && !current.verified) {
      decided(Outcome.OUT_OF_REACH, "the replay begins behind batch " + current.from);
      anew("a replay no longer shows batch " + current.from);
      return;
    }
    if (!lifetime.started()) {
      beginReplayed(batch.sequence());
      counters.add(StreamCounter.LOST_BATCHES, batch.sequence());
    } else if (batch.sequence() > lifetime.next()) {
      lost(batch.sequence());
    }
    current.verified = true;
    current.fruitful = true;
    counters.add(StreamCounter.REPLAYED_BATCHES);
    apply(batch);
  }

  private void beginReplayed(long sequence) {
    if (sequence == 0) {
      knowledge.complete();
    } else {
      knowledge.incomplete("the replay begins at batch " + sequence);
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
    if (lifetime.started() && !current.verified) {
      anew("a replay no longer shows batch " + current.from);
      return;
    }
    lifetime.vouched();
    if (!lifetime.started() && !droppedLive) {
      knowledge.complete();
    }
    if (current.purpose == Purpose.PROBE) {
      probed(current);
    }
    if (knowledge.healable()) {
      startOver("the replay socket answers again");
      ask(Purpose.REPAIR, knowledge.why());
      return;
    }
    StreamMessage first = buffer.first();
    if (first != null && first.sequence() > lifetime.next() && replay.exhausted()) {
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
    refuseUnproven();
    knowledge.healable(true);
    StreamMessage first = buffer.first();
    if (lifetime.started() && first != null && first.sequence() > lifetime.next()) {
      lost(first.sequence());
    } else if (lifetime.started()) {
      knowledge.lost(current.why + " and no replay answers");
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
      knowledge.clear();
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
      refuseUnproven();
      knowledge.healable(port.canReplay());
      knowledge.lost(why + ", and no replay");
    }
  }

  /** What was restored cannot be shown to be true. */
  private void refuseUnproven() {
    if (unproven != null) {
      decided(Outcome.NO_ANSWER, "no replay answers");
      startOver("restored from a snapshot, and no replay answers");
    }
  }

  private void decided(Outcome outcome, String why) {
    ResumeListener listener = unproven;
    if (listener != null) {
      unproven = null;
      listener.decided(outcome, why);
    }
  }

  private void ask(Purpose purpose, String why) {
    replay.ask(purpose, why, lifetime.replayFrom());
  }

  private void settleTrust() {
    if (unproven == null) {
      knowledge.settle(lifetime.started(), connected, replay.current());
    } else {
      knowledge.unproven();
    }
  }
}
