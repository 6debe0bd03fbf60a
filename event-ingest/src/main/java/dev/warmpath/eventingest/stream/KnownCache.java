package dev.warmpath.eventingest.stream;

import dev.warmpath.eventingest.StreamCounter;
import dev.warmpath.eventingest.StreamCounters;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.eventingest.TrustState;
import dev.warmpath.eventingest.apply.EventApplier;
import dev.warmpath.eventingest.apply.EventApplier.Effect;
import dev.warmpath.eventingest.apply.LearnedCache;
import dev.warmpath.eventingest.snapshot.EngineFate;
import dev.warmpath.eventingest.snapshot.StreamSnapshot.Gap;
import dev.warmpath.eventingest.wire.ColumnDecoder;
import dev.warmpath.eventingest.wire.EventColumns;
import dev.warmpath.eventingest.wire.StreamMessage;
import dev.warmpath.eventingest.wire.WireException;
import dev.warmpath.kvindex.block.BlockChain;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What is known of one engine's cache: applies batches, suspends or forgets what was held when some
 * are lost, and says how far the rest may be believed.
 *
 * <p>Confined to the writer; {@link #trust} may be read by any thread.
 */
final class KnownCache {

  private static final Duration WARNINGS_APART = Duration.ofMinutes(1);

  private static final Logger LOG = LoggerFactory.getLogger(KnownCache.class);

  private final EventApplier applier;
  private final Lifetime lifetime;
  private final StreamSockets sockets;
  private final LongSupplier nanoClock;
  private final StreamCounters counters;
  private final ColumnDecoder decoder = new ColumnDecoder();
  private volatile TrustState trust;

  /** Whether what the engine publishes now is heard. */
  private boolean connected;

  /** Whether nothing was missed since the engine held nothing. */
  private boolean complete;

  /** Why something is missing. */
  private String gap = "";

  /** Whether what is missing was given up only because no replay answered; a later one may. */
  private boolean mayBeReplayed;

  /** Whether a batch of another rank was refused, of which one line in the log tells. */
  private boolean rankRefused;

  private long nextWarningNanos;

  private long suspendedNanos;

  KnownCache(
      EventApplier applier,
      Lifetime lifetime,
      StreamSockets sockets,
      LongSupplier nanoClock,
      StreamCounters counters) {
    this.applier = applier;
    this.lifetime = lifetime;
    this.sockets = sockets;
    this.nanoClock = nanoClock;
    this.counters = counters;
    suspendedNanos = nanoClock.getAsLong();
    nextWarningNanos = suspendedNanos;
    trust = new TrustState(Trust.NONE, "not connected yet", suspendedNanos);
  }

  TrustState trust() {
    return trust;
  }

  /** When blocks were last suspended; only answers to requests sent later say anything of them. */
  long suspendedNanos() {
    return suspendedNanos;
  }

  boolean isConnected() {
    return connected;
  }

  void connected(boolean now) {
    connected = now;
  }

  /** The first batch of a lifetime that is heard; those before it, if any, are lost. */
  void begin(long sequence, String why) {
    if (sequence == 0 || isStore()) {
      complete();
      lifetime.trustProcess();
    } else {
      missing(why + " at batch " + sequence);
      counters.add(StreamCounter.LOST_BATCHES, sequence);
    }
  }

  /** Takes a batch in; it counts as applied only once it is. */
  void apply(StreamMessage batch) {
    String lost = read(batch);
    lifetime.add(batch);
    if (lost != null) {
      eventsLost(lost);
    }
    sockets.applied(batch);
  }

  /** Applies what can be read; if removals may have been missed, returns why. */
  private @Nullable String read(StreamMessage batch) {
    if (batch.payload().length == 0) {
      counters.add(StreamCounter.UNDECODABLE_BATCHES);
      return "batch %d came without payload, as one does that is too large"
          .formatted(batch.sequence());
    }
    try {
      return apply(decoder.decode(batch.payload()), batch);
    } catch (WireException e) {
      counters.add(StreamCounter.UNDECODABLE_BATCHES);
      return "batch " + batch.sequence() + " could not be read: " + e.getMessage();
    } finally {
      decoder.trim();
    }
  }

  private @Nullable String apply(EventColumns batch, StreamMessage message) {
    long sequence = message.sequence();
    counters.add(StreamCounter.BATCHES);
    int rank = batch.dataParallelRank();
    if (!applier.source().isOfRank(rank)) {
      return refuseRank(rank);
    }
    counters.add(StreamCounter.SKIPPED_EVENTS, batch.skipped());
    Effect effect = applier.apply(batch, message.arrivedNanos());
    if (effect == Effect.OVERFULL) {
      return "more was announced than the %d blocks that the engine can hold"
          .formatted(applier.mostBlocks());
    } else if (batch.mayHideRemovals()) {
      return "an event of batch " + sequence + " could not be read: " + batch.firstProblem();
    } else if (effect == Effect.EMPTIED) {
      complete = true;
      mayBeReplayed = false;
    } else if (effect == Effect.FORGOTTEN) {
      missing("block size changed in batch " + sequence);
    }
    return null;
  }

  /**
   * What another engine holds is not credited to this one; returns why nothing is known, unless
   * that is known already.
   */
  private @Nullable String refuseRank(int rank) {
    boolean known = rankRefused && !complete && applier.stats().heldBlocks() == 0;
    counters.add(StreamCounter.RANK_MISMATCHES);
    String why =
        "its batches name data-parallel rank %d, not %d"
            .formatted(rank, applier.source().wireRank());
    if (!rankRefused) {
      rankRefused = true;
      LOG.warn(
          "engine={} is credited with nothing of them: {}; set first-rank and ranks as the engine's"
              + " --data-parallel-start-rank and size, and let events name the port of rank 0",
          applier.source().id(),
          why);
    }
    return known ? null : why;
  }

  /** Gives up the batches from the next to the one before {@code sequence}. */
  void batchesLostBefore(long sequence) {
    counters.add(StreamCounter.LOST_BATCHES, sequence - lifetime.next());
    eventsLost("lost batches " + lifetime.next() + " to " + (sequence - 1));
    lifetime.skipTo(sequence);
  }

  /**
   * Removals may have been missed, or even a restart. After one, suspended blocks do no harm: only
   * a store of the process that is heard now can confirm them. But nothing would ever end them, so
   * they are kept only if the process's start will tell.
   */
  void eventsLost(String why) {
    boolean same = isStore() || !lifetime.continuity().isBroken();
    if (connected) {
      lifetime.rejoin();
    }
    if (same) {
      suspend(why);
    } else if (lifetime.isStartKnown()) {
      lifetime.doubtProcess();
      suspend(why);
    } else {
      long held = applier.stats().heldBlocks();
      applier.clear();
      missing(why + blocks(held, " forgotten"));
      warn(held);
    }
  }

  /** Suspends what is held: something was missed in this lifetime, maybe removals. */
  void suspend(String why) {
    long before = applier.stats().heldBlocks();
    long suspended = applier.suspend();
    suspendedNanos = nanoClock.getAsLong();
    missing(why + blocks(suspended, " suspended") + blocks(before - suspended, " forgotten"));
    warn(before);
  }

  /**
   * The engine is credited with nothing of what it held. One that loses events all the time is
   * named now and then.
   */
  private void warn(long blocks) {
    long now = nanoClock.getAsLong();
    if (blocks > 0 && now - nextWarningNanos >= 0) {
      nextWarningNanos = now + WARNINGS_APART.toNanos();
      LOG.warn("engine={} is not credited with what it held: {}", applier.source().id(), gap);
    }
  }

  private static String blocks(long count, String what) {
    return count == 0 ? "" : "; " + count + (count == 1 ? " block" : " blocks") + what;
  }

  private void missing(String why) {
    complete = isStore();
    gap = why;
  }

  /**
   * A store that engines read says of each block by itself that it is there, or gone: whatever was
   * missed, nothing is credited but what it, or an answer of a reader, has shown since.
   */
  private boolean isStore() {
    return applier.source().isStore();
  }

  /** Forgets everything: the process is another one. */
  void end(String why) {
    counters.add(StreamCounter.RESTARTS);
    forget(EngineFate.OTHER_LIFETIME, why);
  }

  /** Forgets what the engine holds and how it keeps its blocks: none of it can be believed. */
  void forget(EngineFate restored, String why) {
    boolean told = !lifetime.continuity().isDecided(); // the recovery warns of it
    long held = applier.stats().heldBlocks();
    lifetime.decided(restored, why);
    mayBeReplayed = false;
    applier.reset();
    missing(why + blocks(held, " forgotten"));
    if (!told) {
      warn(held);
    }
    lifetime.end();
  }

  /** Notes that nothing is missed, as the engine holds nothing yet. Forgets what is suspended. */
  void complete() {
    forgetSuspended();
    complete = true;
    mayBeReplayed = false;
  }

  /** If anything is suspended, forgets it and all else that is held. */
  void forgetSuspended() {
    if (applier.hasSuspended()) {
      applier.clear();
    }
  }

  /** Forgets what the engine held. */
  void clear() {
    applier.clear();
  }

  /** The engine reused so many tokens of a prompt that was sent at {@code dispatchedNanos}. */
  void reused(BlockChain prompt, int cachedTokens, long dispatchedNanos) {
    if (connected && (isStore() || lifetime.isSure()) && dispatchedNanos - suspendedNanos > 0) {
      applier.reused(prompt, cachedTokens);
    }
  }

  /** Whether a later replay may still bring what is missing. */
  boolean mayBeReplayed() {
    return mayBeReplayed;
  }

  void mayBeReplayed(boolean may) {
    mayBeReplayed = may;
  }

  /** Another process has learned what the applier and the index know. */
  void resume(@Nullable Gap missed) {
    suspendedNanos = nanoClock.getAsLong();
    complete = missed == null;
    if (missed != null) {
      missing(missed.why());
      mayBeReplayed = missed.mayBeReplayed();
    }
  }

  /** What is missing, or null. */
  @Nullable Gap gap() {
    return complete ? null : new Gap(gap, mayBeReplayed);
  }

  LearnedCache learned() {
    return applier.learned();
  }

  /** Believes nothing from now on, as nobody takes batches in any more. */
  void abandon(String why) {
    trust(Trust.NONE, why);
  }

  /**
   * Concludes how far the engine is believed.
   *
   * @param repairing why a replay runs that may bring what is missing, or null if none does
   */
  void updateTrust(@Nullable String repairing) {
    boolean started = lifetime.started();
    if (!lifetime.continuity().isDecided()) {
      trust(Trust.CATCHING_UP, "restored, not proven yet");
    } else if (repairing != null) {
      trust(Trust.CATCHING_UP, repairing);
    } else if (!started && !complete) {
      trust(Trust.NONE, connected ? "nothing heard yet" : "not connected");
    } else if (!connected) {
      trust(Trust.SUSPECT, "connection lost");
    } else if (complete) {
      trust(Trust.EXACT, "complete");
    } else {
      trust(Trust.SUSPECT, gap);
    }
  }

  private void trust(Trust now, String reason) {
    TrustState before = trust;
    if (before.trust() != now || !before.reason().equals(reason)) {
      trust = new TrustState(now, reason, nanoClock.getAsLong());
    }
  }
}
