package dev.warmpath.eventingest.session;

import dev.warmpath.eventingest.count.StreamCounter;
import dev.warmpath.eventingest.count.StreamCounters;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Asks one engine for replays: one at a time, with bounded attempts and a rest after failure, and
 * after a silence.
 *
 * <p>Confined to the writer.
 */
final class ReplayAsker {

  /** Why a replay is asked for. */
  enum Purpose {
    /** Something is or may be missing: until the end the engine is not believed. */
    REPAIR,
    /** Nothing speaks for a loss; the question makes sure, and nothing waits for the answer. */
    CHECK
  }

  /** One replay under way. Confined to the writer. */
  static final class Progress {
    final long id;
    final Purpose purpose;
    final String why;
    final long from;

    /**
     * Whether the answer may be applied: it goes on where the stream is, or on from a known loss.
     */
    boolean verified;

    /** Whether batch {@link #from}, by its bytes, showed that the process is the same. */
    boolean sameProcess;

    /** Whether a batch came that was not applied before. */
    boolean fruitful;

    Progress(long id, Purpose purpose, String why, long from) {
      this.id = id;
      this.purpose = purpose;
      this.why = why;
      this.from = from;
    }

    /** Whether something is known to be missing until the end, or may well be. */
    boolean repairs() {
      return purpose == Purpose.REPAIR || fruitful;
    }
  }

  private static final Duration FIRST_CHECK = Duration.ofSeconds(1);

  private final StreamSockets sockets;
  private final StreamLimits limits;
  private final LongSupplier nanoClock;
  private final StreamCounters counters;
  private @Nullable Progress current;
  private long lastId;
  private int fruitless;
  private long restUntilNanos;
  private long retryAtNanos;

  /** Means nothing while the connection is gone: then no silence is checked. */
  private long checkAtNanos;

  private boolean connected;
  private boolean heardSinceCheck;

  ReplayAsker(
      StreamSockets sockets, StreamLimits limits, LongSupplier nanoClock, StreamCounters counters) {
    this.sockets = sockets;
    this.limits = limits;
    this.nanoClock = nanoClock;
    this.counters = counters;
    restUntilNanos = nanoClock.getAsLong();
    retryAtNanos = restUntilNanos;
  }

  StreamSockets sockets() {
    return sockets;
  }

  /** The replay under way, or null. */
  @Nullable Progress current() {
    return current;
  }

  /** The replay under way if it has this id, else null: an answer to an old question. */
  @Nullable Progress current(long replayId) {
    return current != null && current.id == replayId ? current : null;
  }

  /** Whether the engine can be asked now. */
  boolean mayAsk() {
    return sockets.canReplay() && isOver(restUntilNanos);
  }

  /** Asks; an earlier question is void. */
  void ask(Purpose purpose, String why, long fromSequence) {
    current = new Progress(++lastId, purpose, why, fromSequence);
    counters.add(StreamCounter.REPLAYS);
    sockets.replay(lastId, fromSequence, purpose == Purpose.REPAIR);
  }

  /** The question is answered as far as it will be, or void. */
  void end() {
    if (current != null && current.fruitful) {
      fruitless = 0;
    }
    current = null;
  }

  /** Counts an attempt that brought nothing, and returns whether it was the last one. */
  boolean countFruitless() {
    return ++fruitless >= limits.replayAttempts();
  }

  /** Asks no more for a while. */
  void rest() {
    fruitless = 0;
    restUntilNanos = in(limits.replayCooldown());
  }

  /**
   * The live connection is up. The first check shows no silence: it may bring what was published
   * before the subscription reached the engine.
   */
  void connected() {
    connected = true;
    checkAtNanos = in(FIRST_CHECK);
    heardSinceCheck = true;
  }

  void disconnected() {
    connected = false;
  }

  /** Something came on the live connection. */
  void heard() {
    heardSinceCheck = true;
    putOff();
  }

  /** Whether the connection is silent for so long that the engine should be asked. */
  boolean checkDue() {
    return connected && isOver(checkAtNanos);
  }

  /** Whether the last check is so long ago that an engine that did not answer is asked again. */
  boolean retryDue() {
    return isOver(retryAtNanos);
  }

  /** The engine is asked now. */
  void checking() {
    retryAtNanos = in(limits.replayCooldown());
    putOff();
  }

  private void putOff() {
    checkAtNanos = in(limits.checkInterval());
  }

  private long in(Duration time) {
    return nanoClock.getAsLong() + time.toNanos();
  }

  private boolean isOver(long nanos) {
    return nanoClock.getAsLong() - nanos >= 0;
  }

  /**
   * A check has ended. Returns whether the connection is silent: the check brought batches, and
   * nothing was heard since the check before it.
   */
  boolean isSilent(boolean fruitful) {
    boolean silent = fruitful && !heardSinceCheck;
    heardSinceCheck = false;
    return silent;
  }
}
