package dev.warmpath.eventingest.knowledge;

import dev.warmpath.eventingest.TrustState;
import dev.warmpath.eventingest.apply.EventApplier;
import dev.warmpath.eventingest.apply.EventApplier.Effect;
import dev.warmpath.eventingest.apply.LearnedCache;
import dev.warmpath.eventingest.count.StreamCounter;
import dev.warmpath.eventingest.count.StreamCounters;
import dev.warmpath.eventingest.wire.WireException;
import dev.warmpath.eventingest.wire.decode.ColumnDecoder;
import dev.warmpath.eventingest.wire.decode.EventColumns;
import dev.warmpath.kvindex.block.BlockChain;
import java.time.Clock;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What is known of one engine's cache: takes batches in, and judges whether that is all.
 *
 * <p>Confined to the writer; {@link #trust} may be read by any thread.
 */
public final class Knowledge {

  private final EventApplier applier;
  private final ColumnDecoder decoder = new ColumnDecoder();
  private final Clock clock;
  private final StreamCounters counters;
  private final int dpRank;
  private final Belief belief;

  /** Whether what is missing was given up only because nobody answered: it may still be there. */
  private boolean healable;

  /** Since when nothing that is doubted can have gone unheard. */
  private Instant doubtedAt = Instant.MIN;

  /**
   * @param dpRank the rank that the engine's batches should name
   */
  public Knowledge(EventApplier applier, Clock clock, StreamCounters counters, int dpRank) {
    this.applier = applier;
    this.clock = clock;
    this.counters = counters;
    this.dpRank = dpRank;
    belief = new Belief(clock);
  }

  public TrustState trust() {
    return belief.trust();
  }

  /** Takes a batch in; if removals may have been missed in it, returns why. */
  public @Nullable String apply(long sequence, byte[] payload) {
    if (payload.length == 0) {
      counters.add(StreamCounter.UNDECODABLE_BATCHES);
      return "batch " + sequence + " came without payload, as one does that is too large";
    }
    try {
      return apply(decoder.decode(payload), sequence);
    } catch (WireException e) {
      counters.add(StreamCounter.UNDECODABLE_BATCHES);
      return "batch " + sequence + " could not be read: " + e.getMessage();
    } finally {
      decoder.trim();
    }
  }

  private @Nullable String apply(EventColumns batch, long sequence) {
    counters.add(StreamCounter.BATCHES);
    if (batch.dataParallelRank() >= 0 && batch.dataParallelRank() != dpRank) {
      counters.add(StreamCounter.RANK_MISMATCHES);
    }
    counters.add(StreamCounter.SKIPPED_EVENTS, batch.skipped());
    Effect effect = applier.apply(batch);
    if (effect == Effect.OVERFULL) {
      return "more was announced than the %d blocks that the engine can hold"
          .formatted(applier.mostBlocks());
    } else if (batch.mayHideRemovals()) {
      return "an event of batch " + sequence + " could not be read: " + batch.firstProblem();
    } else if (effect == Effect.EMPTIED) {
      belief.complete();
      healable = false;
    } else if (effect == Effect.FORGOTTEN) {
      belief.incomplete("block size changed in batch " + sequence);
    }
    return null;
  }

  /** The engine holds nothing yet, so nothing is missed; what is doubted is not there. */
  public void complete() {
    forgetDoubts();
    belief.complete();
    healable = false;
  }

  /** Nothing but doubts is left of what the engine held; they end too. */
  public void forgetDoubts() {
    if (applier.doubts()) {
      applier.clear();
    }
  }

  /** Something was missed, but no removal of what is held. */
  public void incomplete(String why) {
    belief.incomplete(why);
  }

  /** Something was missed in this lifetime, maybe removals of what is held. */
  public void doubt(String why) {
    long before = applier.stats().heldBlocks();
    long doubted = applier.doubt();
    doubtedAt = clock.instant();
    belief.incomplete(
        why + blocks(doubted, " doubted") + blocks(before - doubted, " without a name forgotten"));
  }

  /** Something was missed, and what is held may be of another lifetime. */
  public void forget(String why) {
    long held = applier.stats().heldBlocks();
    applier.clear();
    belief.incomplete(why + blocks(held, " forgotten"));
  }

  private static String blocks(long count, String what) {
    return count == 0 ? "" : "; " + count + (count == 1 ? " block" : " blocks") + what;
  }

  /** The engine reused so many tokens of a prompt that was sent at {@code dispatched}. */
  public void reused(BlockChain prompt, int cachedTokens, Instant dispatched) {
    if (dispatched.isAfter(doubtedAt)) {
      applier.reused(prompt, cachedTokens);
    }
  }

  /** The engine holds nothing. */
  public void clear() {
    applier.clear();
  }

  /** Nothing is known any more, not even how the engine keeps its blocks. */
  public void reset(String why) {
    healable = false;
    applier.reset();
    belief.incomplete(why);
  }

  /** Whether a later replay may still bring what is missing. */
  public boolean healable() {
    return healable;
  }

  public void healable(boolean mayHeal) {
    healable = mayHeal;
  }

  /** Another process has learned what the applier and the index know. */
  public void resume(@Nullable Gap gap) {
    doubtedAt = clock.instant();
    if (gap == null) {
      belief.complete();
    } else {
      belief.incomplete(gap.why());
      healable = gap.healable();
    }
  }

  /** What is missing, or null. */
  public @Nullable Gap gap() {
    return belief.isComplete() ? null : new Gap(belief.why(), healable);
  }

  public LearnedCache learned() {
    return applier.learned();
  }

  /** What is known comes from another process, and nobody has vouched for it yet. */
  public void unproven() {
    belief.unproven();
  }

  /** Nobody will take batches in any more. */
  public void abandon(String why) {
    belief.abandon(why);
  }

  /** Draws the conclusion; see {@link Belief#settle}. */
  public void settle(boolean started, boolean connected, @Nullable String repairing) {
    belief.settle(started, connected, repairing);
  }
}
