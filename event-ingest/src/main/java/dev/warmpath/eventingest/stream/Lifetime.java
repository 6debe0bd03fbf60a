package dev.warmpath.eventingest.stream;

import dev.warmpath.eventingest.snapshot.EngineFate;
import dev.warmpath.eventingest.snapshot.StreamSnapshot;
import dev.warmpath.eventingest.stream.BatchDigests.Verdict;
import dev.warmpath.eventingest.stream.Lifetime.Continuity.Event;
import dev.warmpath.eventingest.wire.StreamMessage;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * How far the batches of one lifetime of the engine's process were followed, and whether what is
 * held is of the process that is heard.
 *
 * <p>Two things show the process: a batch that is known, which a replay repeats byte by byte, and
 * the time at which the process started, which its metrics tell.
 *
 * <p>Confined to the writer; {@link #lastSequence} may be read by any thread.
 */
final class Lifetime {

  /** Whether what is held of an engine is of the process that is heard next. */
  enum Continuity {
    /** It is: the connection has lasted since, or a replay has shown it. */
    CONTINUOUS,
    /** The connection was lost: the next process may be another one. */
    BROKEN,
    /** It comes from a snapshot, and no replay has shown it yet. */
    RESTORED,
    /** The same, but the process that runs now started when the one of the snapshot did. */
    RESTORED_START_MATCHES,
    /** It comes from a snapshot, and only the start of the process can show it: it is suspended. */
    AWAITING_START,
    /** The same, and the connection was lost. */
    AWAITING_START_BROKEN;

    /** What changes it. */
    enum Event {
      /** The connection is lost, or made anew. */
      CONNECTION_LOST,
      /** A replay was answered, or what was held of before is suspended or forgotten. */
      REJOINED,
      /** The process that runs now started when the one that is known did. */
      START_MATCHES,
      /** No replay can show whose it is. */
      NO_REPLAY,
      /** A replay has shown that it is of this process, or what was restored is forgotten. */
      DECIDED
    }

    /** What was restored is decided on by the step that leads to CONTINUOUS or BROKEN. */
    Continuity after(Event event) {
      return switch (this) {
        case CONTINUOUS -> event == Event.CONNECTION_LOST ? BROKEN : this;
        case BROKEN -> event == Event.REJOINED ? CONTINUOUS : this;
        case RESTORED ->
            switch (event) {
              case CONNECTION_LOST, REJOINED -> this;
              case START_MATCHES -> RESTORED_START_MATCHES;
              case NO_REPLAY -> AWAITING_START;
              case DECIDED -> BROKEN;
            };
        case RESTORED_START_MATCHES ->
            switch (event) {
              case CONNECTION_LOST, REJOINED, START_MATCHES -> this;
              case NO_REPLAY -> CONTINUOUS;
              case DECIDED -> BROKEN;
            };
        case AWAITING_START ->
            switch (event) {
              case CONNECTION_LOST -> AWAITING_START_BROKEN;
              case REJOINED, NO_REPLAY -> this;
              case START_MATCHES, DECIDED -> CONTINUOUS;
            };
        case AWAITING_START_BROKEN ->
            switch (event) {
              case CONNECTION_LOST -> this;
              case REJOINED, NO_REPLAY -> AWAITING_START;
              case START_MATCHES, DECIDED -> BROKEN;
            };
      };
    }

    /** Whether it was heard from this process on, or what was restored is decided on. */
    boolean isDecided() {
      return this == CONTINUOUS || this == BROKEN;
    }

    /** Whether only the start of the process can show whose it is. */
    boolean awaitsStart() {
      return this == AWAITING_START || this == AWAITING_START_BROKEN;
    }

    /** Whether what is held may be of another process than what is heard next. */
    boolean isBroken() {
      return this != CONTINUOUS && this != AWAITING_START;
    }
  }

  /** A batch that is late by more numbers than this is taken for another process's. */
  private static final int MAX_LATE = 64;

  /** So many readings of the start must agree: the first may be of the process before. */
  private static final int READINGS = 2;

  private final BatchDigests digests = new BatchDigests();
  private volatile long lastSequence = -1;
  private long next;
  private boolean started;

  /** No batch before this one can come late: it was published for an earlier connection. */
  private long first;

  /** The last batch before the connection was lost, until a replay has vouched for it; or −1. */
  private long lastBeforeLoss = -1;

  private Continuity continuity = Continuity.CONTINUOUS;

  /** Who waits to hear what becomes of what was restored; null if nothing was, or it is decided. */
  private @Nullable BiConsumer<EngineFate, String> listener;

  /** When the process started, in seconds since 1970; NaN if nobody knows. */
  private double startSeconds = Double.NaN;

  /** Readings of the start that must still agree before what is suspended is sure to be of it. */
  private int readingsToAgree;

  /** Whether the batches that a replay could show may be of another process than what is held. */
  private boolean mixed;

  // How far.

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

  /** The digest of a batch that was added lately. */
  long digest(long sequence) {
    return digests.get(sequence);
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

  /**
   * Whether a batch that waited is older than what was followed first, or than all that is known.
   */
  boolean beganBehind(StreamMessage batch) {
    return started && batch.sequence() < next && compare(batch) == Verdict.UNKNOWN;
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
    trustProcess();
    startSeconds = Double.NaN;
  }

  // Whether it is the same process.

  /** Whether what is held is of the process that is heard. */
  Continuity continuity() {
    return continuity;
  }

  /** Whether a replay is yet to show whose it is that was restored. */
  boolean isUnproven() {
    return !continuity.isDecided() && !continuity.awaitsStart();
  }

  /**
   * Whether what is suspended is of the process that is heard. If not, its hashes may mean nothing
   * to that one, so that a prompt that was reused does not show that they are held.
   */
  boolean isSure() {
    return continuity == Continuity.CONTINUOUS && readingsToAgree == 0;
  }

  /** Whether another process could find out by the last batch whether this one is the same. */
  boolean isShownByLast() {
    return readingsToAgree == 0 && (lastBeforeLoss < 0 || lastBeforeLoss == lastSequence);
  }

  /** From now on nobody can tell whether the process is still the same. */
  void unheard() {
    continuity = continuity.after(Event.CONNECTION_LOST);
    first = next;
    if (lastBeforeLoss < 0) {
      lastBeforeLoss = lastSequence;
    }
  }

  /** What may be of another process is suspended or forgotten. */
  void rejoin() {
    continuity = continuity.after(Event.REJOINED);
  }

  /** Nothing is held of what was heard before. */
  void cleared() {
    rejoin();
    trustProcess();
  }

  /**
   * A replay was answered. Only one that shows a batch of before the loss tells that the process is
   * still the same; after another one, later batches cannot tell it either.
   */
  void answered(boolean sameProcess) {
    rejoin();
    lastBeforeLoss = -1;
    if (sameProcess && !mixed) {
      readingsToAgree = 0;
    }
    mixed = readingsToAgree > 0;
  }

  /** What is suspended from now on may be of another process. */
  void doubtProcess() {
    readingsToAgree = READINGS;
  }

  /** Nothing is held that may be of another process. */
  void trustProcess() {
    mixed = false;
    readingsToAgree = 0;
  }

  /** When the process started, in seconds since 1970; NaN if nobody knows. */
  double startSeconds() {
    return startSeconds;
  }

  boolean isStartKnown() {
    return !Double.isNaN(startSeconds);
  }

  /** The process that runs now started then; the same as that of what was restored, if known. */
  void runsSince(double seconds) {
    if (continuity.isDecided()) {
      readingsToAgree -= readingsToAgree > 0 && startSeconds == seconds ? 1 : 0;
      mixed &= readingsToAgree > 0;
      startSeconds = seconds;
    } else if (startSeconds == seconds) {
      become(Event.START_MATCHES, EngineFate.SUSPENDED, "the process started at the same time");
    }
  }

  // What was restored from a snapshot.

  /** Another process has followed it so far, which is yet to be proven. */
  void resume(StreamSnapshot snapshot, BiConsumer<EngineFate, String> waiting) {
    started = true;
    next = snapshot.lastSequence() + 1;
    lastSequence = snapshot.lastSequence();
    first = next;
    digests.put(snapshot.lastSequence(), snapshot.lastDigest());
    startSeconds = snapshot.startSeconds();
    continuity = Continuity.RESTORED;
    listener = waiting;
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
    BiConsumer<EngineFate, String> waiting = listener;
    if (waiting != null && continuity.isDecided()) {
      listener = null;
      waiting.accept(fate, why);
    }
  }
}
