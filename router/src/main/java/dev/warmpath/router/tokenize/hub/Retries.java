package dev.warmpath.router.tokenize.hub;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Sends a request again as long as that has a point: a few times without anything new, with growing
 * pauses or as long as the server asked, and until the time for the whole download is over.
 *
 * <p>Confined to the thread that downloads.
 */
final class Retries {

  /** One attempt. */
  interface Attempt<T> {
    T make() throws IOException, InterruptedException;
  }

  /** Lets time pass. */
  interface Pause {
    void millis(long millis) throws InterruptedException;
  }

  static final int ATTEMPTS = 5;
  private static final long FIRST_MILLIS = 500;
  private static final long LONGEST_MILLIS = 8_000;
  private static final long LONGEST_WISH_MILLIS = 60_000;

  private final LongSupplier nanoClock;
  private final Pause pause;
  private final Runnable retried;
  private final long endNanos;
  private int failures;
  private long bytes;

  Retries(LongSupplier nanoClock, Pause pause, long totalMillis, Runnable retried) {
    this.nanoClock = nanoClock;
    this.pause = pause;
    this.retried = retried;
    this.endNanos = nanoClock.getAsLong() + TimeUnit.MILLISECONDS.toNanos(totalMillis);
  }

  /** Whether the time for the whole download is over. */
  boolean isLate() {
    return nanoClock.getAsLong() - endNanos >= 0;
  }

  void pause(long millis) throws InterruptedException {
    pause.millis(millis);
  }

  /**
   * What an attempt gives.
   *
   * @param received bytes so far; an attempt that brought some is no vain one
   */
  <T> T call(Attempt<T> attempt, LongSupplier received) throws IOException, InterruptedException {
    failures = 0;
    bytes = received.getAsLong();
    while (true) {
      try {
        return attempt.make();
      } catch (IOException e) {
        count(received.getAsLong());
        rest(e);
      }
    }
  }

  private void count(long now) {
    failures = now > bytes ? 1 : failures + 1;
    bytes = Math.max(bytes, now);
  }

  private void rest(IOException e) throws IOException, InterruptedException {
    long wish = e instanceof HubFailure failure ? failure.waitMillis() : 0;
    boolean lasting = e instanceof HubFailure failure && !failure.isPassing();
    if (lasting || failures >= ATTEMPTS || wish > LONGEST_WISH_MILLIS || isLate()) {
      throw e;
    }
    retried.run();
    pause.millis(Math.max(wish, Math.min(LONGEST_MILLIS, FIRST_MILLIS << (failures - 1))));
  }
}
