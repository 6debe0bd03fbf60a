package dev.warmpath.tokenizer.template.value;

import dev.warmpath.tokenizer.template.syntax.TemplateException;
import java.util.AbstractList;
import java.util.RandomAccess;
import org.jspecify.annotations.Nullable;

/** Python's {@code range(start, stop, step)}. */
public final class Range extends AbstractList<Object> implements RandomAccess {
  /** No sum of two such numbers overflows. */
  private static final long MAX_BOUND = 1L << 61;

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

  /** A start, stop or step, if it is not too large to be added to another one. */
  public static long checkedBound(long bound) {
    if (bound > MAX_BOUND || bound < -MAX_BOUND) {
      throw TemplateException.unsupported("a range beyond 2^61");
    }
    return bound;
  }

  /** How many numbers a range with {@linkplain #checkedBound checked} bounds has. */
  public static long length(long start, long stop, long step) {
    long span = step > 0 ? stop - start : start - stop;
    return span <= 0 ? 0 : (span - 1) / Math.abs(step) + 1;
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
