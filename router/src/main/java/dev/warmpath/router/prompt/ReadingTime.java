package dev.warmpath.router.prompt;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * How long prompts of one tokenizer take to be read, learned from each that was, so that it is
 * known before the next one.
 *
 * <p>Thread-safe; of two prompts that are counted at once one may be lost.
 */
public final class ReadingTime {

  /*
   * Two rates, each a mean in which the newest prompt counts for a sixteenth:
   *
   *   all but native calls   over the weight of the body's tree (text and nodes, as TreeRoom counts
   *                          them) and a part that does not depend on it
   *   native calls           over their characters and a part for each call
   *
   * Time is that of the thread on a processor: a machine that is busy with others makes no prompt
   * long. A sample counts for twice the mean at most.
   */

  /** So many prompts are read before anything is said of the next one. */
  static final int FIRST_PROMPTS = 64;

  /** What a prompt takes whatever its length, in units of weight: as much as a KiB of text. */
  private static final int FIXED_WEIGHT = 6 * 1024;

  /** What a native call takes whatever its length, in characters. */
  private static final int CALL_CHARS = 16;

  private static final double NEWEST_SHARE = 1.0 / 16;
  private static final double MOST_MEANS = 2;

  private final AtomicInteger prompts = new AtomicInteger();
  private volatile double nanosPerWeight;
  private volatile double nanosPerChar;

  /** Whether enough prompts were read to tell. */
  boolean isKnown() {
    return prompts.get() >= FIRST_PROMPTS;
  }

  /** Nanoseconds that a prompt takes besides its native calls, about. */
  double restNanos(long weight) {
    return nanosPerWeight * (FIXED_WEIGHT + weight);
  }

  /** Nanoseconds that one native call takes, about. */
  double nativeNanos(int chars) {
    return nanosPerChar * (CALL_CHARS + chars);
  }

  /**
   * A prompt was read.
   *
   * @param weight of its body's tree
   * @param restNanos what it took besides native calls
   */
  void read(long weight, long restNanos, NativeCalls calls) {
    nanosPerWeight = mean(nanosPerWeight, (double) restNanos / (FIXED_WEIGHT + weight));
    if (calls.count() > 0) {
      double chars = calls.chars() + (double) calls.count() * CALL_CHARS;
      nanosPerChar = mean(nanosPerChar, calls.nanos() / chars);
    }
    if (!isKnown()) {
      prompts.incrementAndGet();
    }
  }

  /** The native calls of a prompt. */
  record NativeCalls(int count, long chars, long nanos) {}

  private static double mean(double mean, double newest) {
    return mean == 0 ? newest : mean + NEWEST_SHARE * (Math.min(newest, MOST_MEANS * mean) - mean);
  }
}
