package dev.warmpath.eventingest.stream;

import dev.warmpath.eventingest.stream.BatchDigests.Verdict;
import dev.warmpath.eventingest.stream.ResumeListener.Outcome;
import org.jspecify.annotations.Nullable;

/**
 * How far the batches of one lifetime of the engine's process were followed, and what they looked
 * like.
 *
 * <p>Sequence numbers begin at 0 with each lifetime.
 *
 * <p>Confined to the writer; {@link #lastSequence} may be read by any thread.
 */
final class Lifetime {

  private final BatchDigests digests = new BatchDigests();
  private volatile long lastSequence = -1;
  private long next;
  private boolean started;

  /** Whether what is held may be of another process than what is heard next. */
  private boolean torn;

  /** Who waits to hear whether what was restored is true; null if nothing was, or it is decided. */
  private @Nullable ResumeListener unproven;

  /** The last batch before the connection was lost, until a replay has vouched for it; or −1. */
  private long lastBeforeLoss = -1;

  /** Whether a batch of it was applied. */
  boolean started() {
    return started;
  }

  /** The batch to be applied next. */
  long next() {
    return next;
  }

  /** The last batch that was applied or given up, −1 before the first. */
  long lastSequence() {
    return lastSequence;
  }

  /** The batch is the next one. */
  void add(StreamMessage batch) {
    started = true;
    next = batch.sequence() + 1;
    lastSequence = batch.sequence();
    digests.put(batch);
  }

  /** The batches before this one will not come any more. */
  void skipTo(long sequence) {
    next = sequence;
  }

  /** Whether a batch is the one that was applied under its number. */
  Verdict compare(StreamMessage batch) {
    return digests.compare(batch);
  }

  /** Whether what is held may be of another process than what is heard next. */
  boolean torn() {
    return torn;
  }

  /** Whether what is held is of this process; if not it must be forgotten now. */
  boolean mayGoOn(boolean connected) {
    boolean same = !torn;
    torn &= !connected;
    return same;
  }

  /** Nothing is held of what was heard before. */
  void mended() {
    torn = false;
  }

  /**
   * Whether a batch that waited is older than what was followed first, or than all that is known.
   */
  boolean beganBehind(StreamMessage batch) {
    return started && batch.sequence() < next && compare(batch) == Verdict.UNKNOWN;
  }

  /** From now on nobody can tell whether the process is still the same. */
  void unheard() {
    torn = true;
    if (lastBeforeLoss < 0) {
      lastBeforeLoss = lastSequence;
    }
  }

  /** A replay has shown that the process is still the same. */
  void vouched() {
    torn = false;
    lastBeforeLoss = -1;
  }

  /**
   * The batch from which on a replay shows all that is missing and that the process is the same.
   */
  long replayFrom() {
    if (!started) {
      return 0;
    }
    return lastBeforeLoss < 0 ? next - 1 : lastBeforeLoss;
  }

  /** Another process has followed it so far, which is yet to be proven. */
  void resume(StreamMemory memory, ResumeListener listener) {
    started = true;
    next = memory.lastSequence() + 1;
    lastSequence = memory.lastSequence();
    digests.put(memory.lastSequence(), memory.lastDigest());
    torn = true;
    unproven = listener;
  }

  /** Whether it was followed from here, or what was restored is decided on. */
  boolean isProven() {
    return unproven == null;
  }

  /** What was restored is true, or not; said once. */
  void decided(Outcome outcome, String why) {
    ResumeListener listener = unproven;
    if (listener != null) {
      unproven = null;
      listener.decided(outcome, why);
    }
  }

  /** The digest of a batch that was added lately. */
  long digest(long sequence) {
    return digests.get(sequence);
  }

  /** The next one begins. */
  void end() {
    digests.clear();
    torn = false;
    lastBeforeLoss = -1;
    next = 0;
    lastSequence = -1;
    started = false;
  }
}
