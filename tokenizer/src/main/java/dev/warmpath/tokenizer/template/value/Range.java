package dev.warmpath.tokenizer.template.value;

import java.util.AbstractList;
import java.util.RandomAccess;
import org.jspecify.annotations.Nullable;

/** Python's {@code range(start, stop, step)}. Immutable. */
public final class Range extends AbstractList<Object> implements RandomAccess {
  private final long start;
  private final long stop;
  private final long step;
  private final int size;

  /** A range of at most {@code Integer.MAX_VALUE} numbers; {@code step} is not 0. */
  public Range(long start, long stop, long step) {
    if (step == 0) {
      throw new IllegalArgumentException("step=" + step);
    }
    this.start = start;
    this.stop = stop;
    this.step = step;
    this.size = Math.toIntExact(length(start, stop, step));
  }

  /** How many numbers such a range has; the bounds are at most 2^62 apart. */
  public static long length(long start, long stop, long step) {
    long span = step > 0 ? stop - start : start - stop;
    return span <= 0 ? 0 : (span - 1) / Math.abs(step) + 1;
  }

  /** A range of this one's numbers, from one index to before another. */
  public Range slice(int from, int to, int by) {
    return new Range(start + from * step, start + to * step, step * by);
  }

  @Override
  public Object get(int index) {
    return start + index * step;
  }

  @Override
  public int size() {
    return size;
  }

  /** Whether the range has this number. */
  @Override
  public boolean contains(@Nullable Object value) {
    return value instanceof Long n
        && size > 0
        && (n - start) % step == 0
        && (n - start) / step >= 0
        && (n - start) / step < size;
  }

  /** As {@code repr} gives it. */
  @Override
  public String toString() {
    return "range(" + start + ", " + stop + (step == 1 ? ")" : ", " + step + ")");
  }
}
