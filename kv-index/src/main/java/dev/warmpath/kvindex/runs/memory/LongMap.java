package dev.warmpath.kvindex.runs.memory;

import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A map from long to object that does not box its keys.
 *
 * <p>Linear probing at a load of at most ½; a removal moves its followers back. Single writer.
 */
public final class LongMap<V> {

  private static final int MIN_CAPACITY = 16;
  private static final long SLOT_BYTES = 16;

  private final ByteBudget budget;
  private long[] keys = new long[0];
  private @Nullable Object[] values = new Object[0];
  private int size;

  /**
   * @param budget is charged for the table, not for the values
   */
  public LongMap(ByteBudget budget) {
    this.budget = budget;
  }

  public int size() {
    return size;
  }

  @SuppressWarnings("unchecked")
  public @Nullable V get(long key) {
    return size == 0 ? null : (V) values[place(key)];
  }

  public void put(long key, V value) {
    if (2 * (size + 1) > keys.length) {
      resize(Math.max(MIN_CAPACITY, 2 * keys.length));
    }
    int at = place(key);
    if (values[at] == null) {
      size++;
    }
    keys[at] = key;
    values[at] = value;
  }

  @SuppressWarnings("unchecked")
  public @Nullable V remove(long key) {
    if (size == 0) {
      return null;
    }
    int at = place(key);
    V value = (V) values[at];
    if (value != null) {
      size--;
      closeGap(at);
      if (keys.length > MIN_CAPACITY && 8 * size < keys.length) {
        resize(keys.length / 2);
      }
    }
    return value;
  }

  /** What the table takes, without its values. */
  public long bytes() {
    return SLOT_BYTES * keys.length;
  }

  /** Bytes that the table may take if so many are added. */
  public long growthBytes(int added) {
    long capacity = Math.max(MIN_CAPACITY, keys.length);
    while (capacity < 2L * (size + (long) added)) {
      capacity *= 2;
    }
    return added == 0 ? 0 : SLOT_BYTES * (capacity - keys.length);
  }

  public void clear() {
    size = 0;
    resize(0);
  }

  /** The map must not change meanwhile. */
  @SuppressWarnings("unchecked")
  public void forEach(Consumer<V> visitor) {
    for (Object value : values) {
      if (value != null) {
        visitor.accept((V) value);
      }
    }
  }

  /** The map must not change meanwhile. */
  public void forEachKey(LongConsumer visitor) {
    for (int at = 0; at < keys.length; at++) {
      if (values[at] != null) {
        visitor.accept(keys[at]);
      }
    }
  }

  private void closeGap(int gap) {
    int mask = keys.length - 1;
    int hole = gap;
    for (int at = (gap + 1) & mask; values[at] != null; at = (at + 1) & mask) {
      if (((at - home(keys[at])) & mask) >= ((at - hole) & mask)) {
        keys[hole] = keys[at];
        values[hole] = values[at];
        hole = at;
      }
    }
    values[hole] = null;
  }

  private int place(long key) {
    int at = home(key);
    while (values[at] != null && keys[at] != key) {
      at = (at + 1) & (keys.length - 1);
    }
    return at;
  }

  private int home(long key) {
    long mixed = key * 0x9E3779B97F4A7C15L;
    return (int) (mixed ^ (mixed >>> 32)) & (keys.length - 1);
  }

  @SuppressWarnings("unchecked")
  private void resize(int capacity) {
    long[] oldKeys = keys;
    @Nullable Object[] oldValues = values;
    budget.force(SLOT_BYTES * (capacity - oldKeys.length));
    keys = new long[capacity];
    values = new Object[capacity];
    size = 0;
    for (int at = 0; at < oldKeys.length && capacity > 0; at++) {
      if (oldValues[at] != null) {
        put(oldKeys[at], (V) oldValues[at]);
      }
    }
  }
}
