package dev.warmpath.router.dispatch;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;

/**
 * How many prefills one decode needs, by model: the engine time that prompts have taken in the last
 * hour, against that of their answers in engines whose memory is full of such.
 *
 * <p>Thread-safe.
 */
final class PrefillRatio {

  private static final int MINUTES = 60;
  private static final long MINUTE_NANOS = 60_000_000_000L;

  /** Fewer requests in the hour show nothing. */
  private static final int LEAST_REQUESTS = 50;

  /** The last hour of one model, by minute. */
  private static final class Hour {
    private final double[] promptMillis = new double[MINUTES];
    private final double[] answerMillis = new double[MINUTES];
    private final int[] requests = new int[MINUTES];
    private long minute;

    Hour(long minute) {
      this.minute = minute;
    }

    synchronized void add(double prompt, double answer, long now) {
      turn(now);
      int slot = (int) Math.floorMod(minute, (long) MINUTES);
      promptMillis[slot] += prompt;
      answerMillis[slot] += answer;
      requests[slot]++;
    }

    /** Forgets what is older than an hour. */
    private void turn(long now) {
      for (int i = 0; i < MINUTES && minute < now; i++) {
        int slot = (int) Math.floorMod(++minute, (long) MINUTES);
        promptMillis[slot] = 0;
        answerMillis[slot] = 0;
        requests[slot] = 0;
      }
      minute = Math.max(minute, now);
    }

    synchronized boolean isEmpty(long now) {
      turn(now);
      return IntStream.of(requests).sum() == 0;
    }

    /** NaN if too little was seen. */
    synchronized double ratio(long now) {
      turn(now);
      boolean isLittle = IntStream.of(requests).sum() < LEAST_REQUESTS;
      double answers = DoubleStream.of(answerMillis).sum();
      return isLittle || answers == 0 ? Double.NaN : DoubleStream.of(promptMillis).sum() / answers;
    }
  }

  private final Map<String, Hour> hours = new ConcurrentHashMap<>();

  /**
   * A request was answered.
   *
   * @param model one of those that the fleet serves
   * @param promptMillis that its uncached tokens take
   * @param answerMillis its part of the steps of a full engine
   */
  void add(String model, double promptMillis, double answerMillis, long nowNanos) {
    long minute = Math.floorDiv(nowNanos, MINUTE_NANOS);
    hours.computeIfAbsent(model, name -> new Hour(minute)).add(promptMillis, answerMillis, minute);
  }

  /** The ratio of each model that was asked for often enough. */
  Map<String, Double> byModel(long nowNanos) {
    long minute = Math.floorDiv(nowNanos, MINUTE_NANOS);
    hours.values().removeIf(hour -> hour.isEmpty(minute));
    Map<String, Double> ratios = new TreeMap<>();
    hours.forEach((model, hour) -> ratios.put(model, hour.ratio(minute)));
    ratios.values().removeIf(ratio -> ratio.isNaN());
    return ratios;
  }
}
