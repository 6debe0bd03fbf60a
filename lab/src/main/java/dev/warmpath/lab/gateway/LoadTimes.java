package dev.warmpath.lab.gateway;

import dev.warmpath.lab.bench.Percentiles;
import dev.warmpath.lab.gateway.LoadClient.Schedule;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntToLongFunction;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * When each request of a load was due and sent, and when the first and the last byte of its
 * answer's body came; or why it failed.
 *
 * <p>Written by the load's event loop; read when the load has ended.
 */
final class LoadTimes {

  private final Schedule schedule;
  private final long[] sent;
  private final long[] firstByte;
  private final long[] lastByte;
  private final @Nullable String[] failure;

  LoadTimes(Schedule schedule) {
    this.schedule = schedule;
    sent = new long[schedule.count()];
    firstByte = new long[schedule.count()];
    lastByte = new long[schedule.count()];
    failure = new String[schedule.count()];
  }

  /** When the requests were due. */
  Schedule schedule() {
    return schedule;
  }

  void sent(int number, long nanos) {
    sent[number] = nanos;
  }

  void firstByte(int number, long nanos) {
    firstByte[number] = nanos;
  }

  void answered(int number, long nanos) {
    lastByte[number] = nanos;
  }

  void failed(int number, String reason) {
    failure[number] = reason;
  }

  /** Requests from {@code first} on that were answered in whole. */
  int answered(int first) {
    return (int) answers(first).count();
  }

  /** Answers that were complete from {@code begin} to before {@code end}. */
  int answeredBetween(long begin, long end) {
    return (int) answers(0).filter(i -> lastByte[i] - begin >= 0 && lastByte[i] - end < 0).count();
  }

  /** Requests from {@code first} on that failed, by reason. */
  Map<String, Integer> failures(int first) {
    Map<String, Integer> reasons = new TreeMap<>();
    for (int i = first; i < failure.length; i++) {
      String reason = failure[i];
      if (reason != null) {
        reasons.merge(reason, 1, Integer::sum);
      }
    }
    return reasons;
  }

  /** Nanoseconds from the instant at which a request was due until it was sent. */
  Percentiles dueToSent(int first) {
    return percentiles(first, i -> sent[i] - schedule.dueNanos(i));
  }

  /** Nanoseconds from the moment at which a request was sent to the first byte of its answer. */
  Percentiles sentToFirstByte(int first) {
    return percentiles(first, i -> firstByte[i] - sent[i]);
  }

  /** Nanoseconds from the instant at which a request was due to the first byte of its answer. */
  Percentiles dueToFirstByte(int first) {
    return percentiles(first, i -> firstByte[i] - schedule.dueNanos(i));
  }

  /** Nanoseconds from the instant at which a request was due to the end of its answer. */
  Percentiles dueToLastByte(int first) {
    return percentiles(first, i -> lastByte[i] - schedule.dueNanos(i));
  }

  private Percentiles percentiles(int first, IntToLongFunction nanos) {
    long[] values = answers(first).mapToLong(nanos).toArray();
    return Percentiles.of(values, values.length);
  }

  private IntStream answers(int first) {
    return IntStream.range(first, failure.length).filter(i -> failure[i] == null);
  }
}
