package dev.warmpath.eventingest.stream;

import dev.warmpath.eventingest.TrustState;
import dev.warmpath.eventingest.apply.EventApplier;
import dev.warmpath.eventingest.apply.EventApplier.Effect;
import dev.warmpath.eventingest.apply.LearnedCache;
import dev.warmpath.eventingest.count.StreamCounter;
import dev.warmpath.eventingest.count.StreamCounters;
import dev.warmpath.eventingest.stream.ReplayAsker.Progress;
import dev.warmpath.eventingest.stream.StreamMemory.Gap;
import dev.warmpath.eventingest.wire.WireException;
import dev.warmpath.eventingest.wire.decode.ColumnDecoder;
import dev.warmpath.eventingest.wire.decode.EventColumns;
import java.time.Clock;
import org.jspecify.annotations.Nullable;

/**
 * What is known of one engine's cache: takes batches in, and judges whether that is all.
 *
 * <p>Confined to the writer; {@link #trust} may be read by any thread.
 */
final class Knowledge {

  private final EventApplier applier;
  private final ColumnDecoder decoder = new ColumnDecoder();
  private final StreamCounters counters;
  private final int dpRank;
  private final Belief belief;

  /** Whether what is missing was given up only because nobody answered: it may still be there. */
  private boolean healable;

  /**
   * @param dpRank the rank that the engine's batches should name
   */
  Knowledge(EventApplier applier, Clock clock, StreamCounters counters, int dpRank) {
    this.applier = applier;
    this.counters = counters;
    this.dpRank = dpRank;
    belief = new Belief(clock);
  }

  TrustState trust() {
    return belief.trust();
  }

  /** Takes a batch in, as far as it can be read. */
  void apply(StreamMessage batch) {
    try {
      apply(decoder.decode(batch.payload()), batch.sequence());
    } catch (WireException e) {
      counters.add(StreamCounter.UNDECODABLE_BATCHES);
      lost("batch " + batch.sequence() + " could not be read: " + e.getMessage());
    }
  }

  private void apply(EventColumns batch, long sequence) {
    counters.add(StreamCounter.BATCHES);
    if (batch.dataParallelRank() >= 0 && batch.dataParallelRank() != dpRank) {
      counters.add(StreamCounter.RANK_MISMATCHES);
    }
    counters.add(StreamCounter.SKIPPED_EVENTS, batch.skipped());
    Effect effect = applier.apply(batch);
    if (batch.mayHideRemovals()) {
      lost("an event of batch " + sequence + " could not be read: " + batch.firstProblem());
    } else if (effect == Effect.EMPTIED) {
      belief.complete();
      healable = false;
    } else if (effect == Effect.FORGOTTEN) {
      belief.incomplete("block size changed in batch " + sequence);
    }
  }

  /** Nothing was missed since the engine held nothing. */
  void complete() {
    belief.complete();
  }

  /** Something was missed, but no removal of what is held. */
  void incomplete(String why) {
    belief.incomplete(why);
  }

  /** Something was missed, maybe removals of what is held. */
  void lost(String why) {
    applier.clear();
    belief.incomplete(why);
  }

  /** The engine holds nothing. */
  void clear() {
    applier.clear();
  }

  /** Nothing is known any more, not even how the engine keeps its blocks. */
  void reset(String why) {
    healable = false;
    applier.reset();
    belief.incomplete(why);
  }

  /** Whether a later replay may still bring what is missing. */
  boolean healable() {
    return healable;
  }

  void healable(boolean mayHeal) {
    healable = mayHeal;
  }

  /** Another process has learned what the applier and the index know. */
  void resume(@Nullable Gap gap) {
    if (gap == null) {
      belief.complete();
    } else {
      belief.incomplete(gap.why());
      healable = gap.healable();
    }
  }

  /** What is missing, or null. */
  @Nullable Gap gap() {
    return belief.isComplete() ? null : new Gap(belief.why(), healable);
  }

  LearnedCache learned() {
    return applier.learned();
  }

  /** What is known comes from another process, and nobody has vouched for it yet. */
  void unproven() {
    belief.unproven();
  }

  /** Why something is missing. */
  String why() {
    return belief.why();
  }

  void settle(boolean started, boolean connected, @Nullable Progress replay) {
    belief.settle(started, connected, replay);
  }
}
