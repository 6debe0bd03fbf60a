package dev.warmpath.eventingest.session;

import dev.warmpath.eventingest.session.BatchDigests.Verdict;
import dev.warmpath.eventingest.session.Continuity.Event;
import dev.warmpath.eventingest.snapshot.EngineFate;
import dev.warmpath.eventingest.snapshot.ResumeListener;
import dev.warmpath.eventingest.snapshot.StreamSnapshot;
import dev.warmpath.eventingest.wire.StreamMessage;
import org.jspecify.annotations.Nullable;

/**
 * How far the batches of one lifetime of the engine's process were followed, what they looked like,
 * and whether what is held is of that process.
 *
 * <p>Sequence numbers begin at 0 with each lifetime.
 *
 * <p>Confined to the writer; {@link #lastSequence} may be read by any thread.
 */
final class Lifetime {

  /** A batch that is late by more numbers than this is taken for another process's. */
  private static final int MAX_LATE = 64;

  private final BatchDigests digests = new BatchDigests();
  private volatile long lastSequence = -1;
  private Continuity continuity = Continuity.CONTINUOUS;
  private long next;
  private boolean started;

  /** No batch before this one can come late: it was published for an earlier connection. */
  private long first;

  private final ProcessStart start = new ProcessStart();

  /** Who waits to hear what becomes of what was restored; null if nothing was, or it is decided. */
  private @Nullable ResumeListener listener;

  /** The last batch before the connection was lost, until a replay has vouched for it; or −1. */
  private long lastBeforeLoss = -1;

  ProcessStart start() {
    return start;
  }

  /** Whether a batch of it was applied. */
  boolean started() {
    return started;
  }

  /** The batch to be applied next. */
  long next() {
    return next;
  }

  /** The last batch applied, −1 before the first. */
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

  /**
   * Whether a batch has a number that was given up lately: it is late, or of another process. All
   * numbers that far back have digests if they were applied.
   */
  boolean gaveUp(StreamMessage batch) {
    long sequence = batch.sequence();
    return sequence >= first
        && sequence < next
        && next - sequence <= MAX_LATE
        && compare(batch) == Verdict.UNKNOWN;
  }

  /** Whether what is held is of the process that is heard. */
  Continuity continuity() {
    return continuity;
  }

  /** Whether a replay is yet to show whose it is that was restored. */
  boolean isUnproven() {
    return !continuity.isDecided() && !continuity.awaitsStart();
  }

  /** What may be of another process is suspended or forgotten. */
  void rejoin() {
    continuity = continuity.after(Event.REJOINED);
  }

  /**
   * Whether what is suspended is of the process that is heard. If not, its hashes may mean nothing
   * to that one, so that a prompt that was reused does not show that they are held.
   */
  boolean isSure() {
    return continuity == Continuity.CONTINUOUS && start.isSure();
  }

  /** Nothing is held of what was heard before. */
  void cleared() {
    rejoin();
    start.cleared();
  }

  /**
   * Whether a batch that waited is older than what was followed first, or than all that is known.
   */
  boolean beganBehind(StreamMessage batch) {
    return started && batch.sequence() < next && compare(batch) == Verdict.UNKNOWN;
  }

  /** From now on nobody can tell whether the process is still the same. */
  void unheard() {
    continuity = continuity.after(Event.CONNECTION_LOST);
    first = next;
    if (lastBeforeLoss < 0) {
      lastBeforeLoss = lastSequence;
    }
  }

  /**
   * A replay was answered. Only one that shows a batch of before the loss tells that the process is
   * still the same; after another one, later batches cannot tell it either.
   */
  void answered(boolean sameProcess) {
    rejoin();
    lastBeforeLoss = -1;
    start.answered(sameProcess);
  }

  /** Whether another process could find out by the last batch whether this one is the same. */
  boolean isShownByLast() {
    return start.isSure() && (lastBeforeLoss < 0 || lastBeforeLoss == lastSequence);
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
  void resume(StreamSnapshot snapshot, ResumeListener waiting) {
    started = true;
    next = snapshot.lastSequence() + 1;
    lastSequence = snapshot.lastSequence();
    first = next;
    digests.put(snapshot.lastSequence(), snapshot.lastDigest());
    start.restore(snapshot.startSeconds());
    continuity = Continuity.RESTORED;
    listener = waiting;
  }

  /** The process that runs now started then; the same as that of what was restored, if known. */
  void runsSince(double seconds) {
    if (continuity.isDecided()) {
      start.read(seconds);
    } else if (start.seconds() == seconds) {
      become(Event.START_MATCHES, EngineFate.SUSPENDED, "the process started at the same time");
    }
  }

  /** No replay shows whose it is that was restored, and what is held of it is suspended. */
  void awaitStart() {
    become(Event.NO_REPLAY, EngineFate.SUSPENDED, "the process started at the same time");
  }

  /** What was restored is true, or not; without effect if nothing was, or it is decided. */
  void decided(EngineFate fate, String why) {
    become(Event.DECIDED, fate, why);
  }

  /** The listener hears of the fate once, if this decides on it. */
  private void become(Event event, EngineFate fate, String why) {
    continuity = continuity.after(event);
    ResumeListener waiting = listener;
    if (waiting != null && continuity.isDecided()) {
      listener = null;
      waiting.decided(fate, why);
    }
  }

  /** The digest of a batch that was added lately. */
  long digest(long sequence) {
    return digests.get(sequence);
  }

  /** All of its batches are asked for again. */
  void rewind() {
    digests.clear();
    lastBeforeLoss = -1;
    next = 0;
    first = 0;
    lastSequence = -1;
    started = false;
  }

  /** The next one begins; what was restored is decided on. */
  void end() {
    rewind();
    continuity = Continuity.CONTINUOUS;
    start.end();
  }
}
