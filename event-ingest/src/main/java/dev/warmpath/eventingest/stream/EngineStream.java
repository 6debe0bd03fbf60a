package dev.warmpath.eventingest.stream;

import dev.warmpath.eventingest.TrustState;
import dev.warmpath.eventingest.apply.EventApplier;
import dev.warmpath.eventingest.count.StreamCounter;
import dev.warmpath.eventingest.count.StreamCounters;
import dev.warmpath.eventingest.stream.BatchDigests.Verdict;
import dev.warmpath.eventingest.stream.ReplayAsker.Progress;
import dev.warmpath.eventingest.stream.ReplayAsker.Purpose;
import dev.warmpath.eventingest.stream.ResumeListener.Outcome;
import dev.warmpath.kvindex.block.BlockChain;
import java.time.Clock;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Keeps one engine's batches in order and complete, or else doubts what the engine held.
 *
 * <p>Sequence numbers begin at 0 with each lifetime of the engine's process. A jump is repaired by
 * a replay, which begins one batch early: that batch proves by its bytes that the process is still
 * the same. What no replay brings back is lost; then what the engine held is doubted, because
 * removals may have been among it, until what follows shows that it is still there; or forgotten,
 * if the process may be another one. {@link #trust} says what that leaves to believe.
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
   * I1  every batch below `next` in this lifetime was applied, or counted as lost and followed by a doubt
   * I2  `knowledge` is complete only if nothing was lost since the engine held nothing
   * I3  nothing is doubted that may be of another lifetime than what is heard next: it is forgotten
   * I4  while a replay is under way no live batch is applied; they wait in `buffer`
   */

  private final EnginePort port;
  private final StreamCounters counters;
  private final LiveBuffer buffer;
  private final ReplayAsker replay;
  private final Knowledge knowledge;
  private final Lifetime lifetime = new Lifetime();

  private boolean connected;

  /** Whether what a replay brings is older than the moment when the cache was empty. */
  private boolean clearAfterReplay;

  /** Whether live batches were refused since the last question. */
  private boolean missed;

  /** Whether live batches were dropped that a replay must bring before all is known. */
  private boolean droppedLive;

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
    lifetime.resume(memory, listener);
    knowledge.resume(memory.gap());
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

  /** The last batch of this lifetime that was applied or given up, −1 before the first. */
  public long lastSequence() {
    return lifetime.lastSequence();
  }

  /** The live connection is up, for the first time or again. */
  public void connected() {
    if (lifetime.started() && lifetime.isProven()) {
      counters.add(StreamCounter.RECONNECTS);
    }
    connected = true;
    replay.connected();
    if (lifetime.started()) {
      lifetime.unheard();
      verify(lifetime.isProven() ? "reconnected" : "restored from a snapshot");
    } else {
      knowledge.forgetDoubts();
      lifetime.mended();
      if (replay.mayAsk()) {
        ask(Purpose.REPAIR, "first contact");
      }
    }
    settleTrust();
  }

  /** The live connection is gone: what the engine does now is not heard. */
  public void disconnected() {
    connected = false;
    lifetime.unheard();
    replay.disconnected();
    settleTrust();
  }

  /** One message of the live connection. */
  public void live(StreamMessage batch) {
    replay.heard(connected);
    if (!lifetime.isProven() && replay.current() == null) {
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

  /** Something speaks against what is believed of this lifetime. */
  public void doubt(String why) {
    if (lifetime.started()) {
      lose(why);
      settleTrust();
    }
  }

  /**
   * The engine said that it reused so many tokens of a prompt.
   *
   * @param dispatched when the prompt was sent to the engine, on the stream's clock
   */
  public void reused(BlockChain prompt, int cachedTokens, Instant dispatched) {
    if (connected && !lifetime.torn()) {
      knowledge.reused(prompt, cachedTokens, dispatched);
    }
  }

  /** Lets time pass: after a silence the replay socket is asked whether something was missed. */
  public void tick() {
    boolean due = knowledge.healable() || replay.probeDue();
    if (connected && replay.current() == null && replay.mayAsk() && due) {
      replay.probing();
      ask(Purpose.PROBE, "silence");
      settleTrust();
    }
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
    lose("lost batches " + lifetime.next() + " to " + (sequence - 1));
    lifetime.skipTo(sequence);
  }

  /** Removals may have been missed. */
  private void lose(String why) {
    if (lifetime.mayGoOn(connected)) {
      knowledge.doubt(why);
    } else {
      knowledge.forget(why);
    }
  }

  private void newLifetime(String why) {
    lifetime.decided(Outcome.OTHER_LIFETIME, why);
    counters.add(StreamCounter.RESTARTS);
    knowledge.reset(why);
    startOver();
  }

  private void startOver() {
    lifetime.end();
    droppedLive = buffer.first() != null;
    buffer.clear();
    replay.end();
  }

  private void apply(StreamMessage batch) {
    droppedLive = false;
    lifetime.add(batch);
    String lost = knowledge.apply(batch);
    if (lost != null) {
      lose(lost);
    }
  }

  /** Keeps a live batch until the replay is over. */
  private void keep(StreamMessage batch) {
    boolean isOld = lifetime.started() && batch.sequence() < lifetime.next();
    Verdict verdict = isOld ? lifetime.compare(batch) : buffer.compare(batch);
    if (verdict == Verdict.SAME) {
      counters.add(StreamCounter.DUPLICATES);
    } else if (isOld || verdict == Verdict.OTHER) {
      newLifetime("sequence went back to " + batch.sequence());
      begin(batch);
    } else if (!buffer.add(batch)) {
      counters.add(StreamCounter.BUFFER_OVERFLOWS);
      missed = true;
    }
  }

  private void replayedOld(Progress current, StreamMessage batch) {
    Verdict verdict = lifetime.compare(batch);
    if (verdict == Verdict.OTHER) {
      anew("a replay shows another batch " + batch.sequence());
    } else if (verdict == Verdict.SAME && batch.sequence() == current.from) {
      current.verified = true;
      lifetime.decided(Outcome.KEPT, "batch " + current.from + " is the same");
    }
  }

  private void replayedNew(Progress current, StreamMessage batch) {
    // While the connection lasts, it vouches for the process that the replay is of.
    boolean same = connected && !lifetime.torn() && current.purpose == Purpose.REPAIR;
    if (lifetime.started() && !current.verified && !same) {
      lifetime.decided(Outcome.OUT_OF_REACH, "the replay begins behind batch " + current.from);
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
    if (current.purpose == Purpose.PROBE && replay.isDeaf(current.fruitful)) {
      counters.add(StreamCounter.DEAF_CONNECTIONS);
      port.reopen();
    }
    if (knowledge.healable()) {
      heal("the replay socket answers again");
      return;
    }
    StreamMessage first = buffer.first();
    if (first != null && first.sequence() > lifetime.next() && replay.exhausted()) {
      giveUp(current);
    }
    drain();
  }

  /** All is asked for again: what is doubted and still there is stored, or shown, on the way. */
  private void heal(String why) {
    knowledge.healable(false);
    knowledge.doubt(why);
    startOver();
    ask(Purpose.REPAIR, why);
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
      lose(current.why + " and no replay answers");
    }
  }

  private void drain() {
    while (replay.current() == null) {
      StreamMessage batch = buffer.poll();
      if (batch == null) {
        if (clearAfterReplay) {
          clearAfterReplay = false;
          knowledge.clear();
        }
        makeUp();
        return;
      }
      if (!lifetime.beganBehind(batch)) {
        route(batch);
      }
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
      lose(why + ", and no replay");
    }
  }

  /** What was restored cannot be shown to be true. */
  private void refuseUnproven() {
    if (!lifetime.isProven()) {
      lifetime.decided(Outcome.NO_ANSWER, "no replay answers");
      knowledge.reset("restored from a snapshot, and no replay answers");
      startOver();
    }
  }

  private void ask(Purpose purpose, String why) {
    replay.ask(purpose, why, lifetime.replayFrom());
  }

  private void settleTrust() {
    if (lifetime.isProven()) {
      knowledge.settle(lifetime.started(), connected, replay.current());
    } else {
      knowledge.unproven();
    }
  }
}
