package dev.warmpath.router.fleet;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Keeps an engine that fails request after request from getting more of them: an engine that fails
 * fast looks idle and would attract all traffic.
 *
 * <p>After {@value #FAILURES} failures in a row it is ejected for a second. Then it gets one
 * request at a time, a probe, until it has answered one; after each further failure it is ejected
 * twice as long, up to half a minute. What fails while it is ejected was sent before, and counts no
 * more. Any answer ends the ejection, a refusal of the request (4xx) too. An engine that names a
 * time in {@code Retry-After} gets nothing until then.
 *
 * <p>A 503 is a failure only from an engine that does nothing else: one that is full is busy with
 * other requests, and its bytes show it. One that was paused or retired answers 503 for ever while
 * its health check passes, and its cache stays the warmest.
 *
 * <p>Confined to its engine's lock.
 */
public final class Ejection {

  /** Whether the engine gets requests. */
  public enum Circuit {
    /** As any other. */
    CLOSED,
    /** Only if there is no other engine. */
    OPEN,
    /** One request at a time, until one is answered. */
    HALF_OPEN
  }

  private static final int FAILURES = 3;
  private static final int MOST_DOUBLINGS = 5;
  private static final long FIRST_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long LONGEST_NANOS = TimeUnit.SECONDS.toNanos(30);

  /** A full engine has sent a byte of something before so much time is over. */
  private static final long REFUSING_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Requests that its metrics show as running explain refusals for so long. */
  private static final long BUSY_NANOS = TimeUnit.SECONDS.toNanos(30);

  private int refusalsInRow;
  private long refusedSinceNanos;
  private boolean refusing;
  private int failuresInRow;
  private long untilNanos;
  private boolean probing;
  private boolean resting;
  private long restUntilNanos;
  private boolean elsewhere;
  private long elsewhereUntilNanos;

  /** It failed a request at {@code nowNanos}. */
  public void failed(long nowNanos) {
    probing = false;
    if (failuresInRow >= FAILURES && nowNanos - untilNanos < 0) {
      return;
    }
    eject(failuresInRow + 1, nowNanos);
  }

  private void eject(int row, long nowNanos) {
    failuresInRow = row;
    if (failuresInRow >= FAILURES) {
      int doublings = Math.min(failuresInRow - FAILURES, MOST_DOUBLINGS);
      untilNanos = nowNanos + Math.min(FIRST_NANOS << doublings, LONGEST_NANOS);
    }
  }

  /**
   * It refused a request with 503.
   *
   * @param busy whether it runs requests, by its metrics
   * @param respondedNanos when a byte of any other response came from it, or {@link Long#MIN_VALUE}
   */
  public void unavailable(boolean busy, long respondedNanos, long nowNanos) {
    probing = false;
    boolean responded = respondedNanos != Long.MIN_VALUE && respondedNanos - refusedSinceNanos > 0;
    if (refusalsInRow == 0 || responded) {
      refusalsInRow = 0;
      refusedSinceNanos = nowNanos;
    }
    refusalsInRow++;
    long lasted = nowNanos - refusedSinceNanos;
    boolean isIll = lasted >= (busy ? BUSY_NANOS : REFUSING_NANOS) && refusalsInRow >= FAILURES;
    if (isIll && !(failuresInRow >= FAILURES && nowNanos - untilNanos < 0)) {
      refusing = true;
      eject(Math.max(FAILURES, failuresInRow + 1), nowNanos);
    }
  }

  /** Why it gets no requests as usual, for operators; null if it does. */
  public @Nullable String problem(long nowNanos) {
    if (refusing) {
      return "it answered " + refusalsInRow + " requests in a row with 503, and none otherwise";
    } else if (failuresInRow >= FAILURES) {
      return "it failed " + failuresInRow + " requests in a row";
    }
    if (isEjectedElsewhere(nowNanos)) {
      return "another router saw it fail";
    }
    return circuit(nowNanos) == Circuit.OPEN ? "it asked for rest by Retry-After" : null;
  }

  /** Whether it may not be asked only because it wants rest. */
  public boolean onlyRests() {
    return failuresInRow < FAILURES && resting;
  }

  /** Whether it is ejected because it refuses all requests. */
  public boolean isRefusing() {
    return refusing;
  }

  /** It asked for so much time without requests; no more than half a minute is given. */
  public void rest(int seconds, long nowNanos) {
    resting = true;
    restUntilNanos = nowNanos + Math.min(TimeUnit.SECONDS.toNanos(seconds), LONGEST_NANOS);
  }

  /** Nanoseconds for which it gets nothing after what was seen here; 0 if it may. */
  long ejectedNanos(long nowNanos) {
    long failed = failuresInRow >= FAILURES ? untilNanos - nowNanos : 0;
    long rests = resting ? restUntilNanos - nowNanos : 0;
    return Math.max(0, Math.max(failed, rests));
  }

  /** Another router saw it fail, and gives it nothing for so long; 0 if it does. */
  void ejectedElsewhere(long nanos, long nowNanos) {
    long untilThen = nowNanos + Math.min(nanos, LONGEST_NANOS);
    if (nanos > 0 && (!isEjectedElsewhere(nowNanos) || untilThen - elsewhereUntilNanos > 0)) {
      elsewhere = true;
      elsewhereUntilNanos = untilThen;
    }
  }

  /** The other router has an answer of it now. */
  void answeredElsewhere() {
    elsewhere = false;
  }

  /** It answered. */
  public void answered() {
    elsewhere = false;
    failuresInRow = 0;
    refusalsInRow = 0;
    refusing = false;
    probing = false;
  }

  /** It is given a request; returns whether that is a probe. */
  public boolean chosen() {
    boolean probe = failuresInRow >= FAILURES;
    probing |= probe;
    return probe;
  }

  /** A probe ended without showing anything, as when its client left. */
  public void probeEnded() {
    probing = false;
  }

  /** How it stands at {@code nowNanos}. */
  public Circuit circuit(long nowNanos) {
    boolean waits = failuresInRow >= FAILURES && nowNanos - untilNanos < 0;
    if (waits || isEjectedElsewhere(nowNanos) || (resting && nowNanos - restUntilNanos < 0)) {
      return Circuit.OPEN;
    }
    return failuresInRow >= FAILURES ? Circuit.HALF_OPEN : Circuit.CLOSED;
  }

  /** Whether it should get nothing at {@code nowNanos} if there is another engine. */
  public boolean isEjected(long nowNanos) {
    resting = resting && nowNanos - restUntilNanos < 0;
    return resting
        || isEjectedElsewhere(nowNanos)
        || (failuresInRow >= FAILURES && (probing || nowNanos - untilNanos < 0));
  }

  private boolean isEjectedElsewhere(long nowNanos) {
    return elsewhere && nowNanos - elsewhereUntilNanos < 0;
  }
}
