package dev.warmpath.router.cluster;

import java.util.Map;
import java.util.TreeMap;

/**
 * A set of numbers as ranges: small where they follow each other, however many there are.
 *
 * <p>Confined to its owner's lock.
 */
final class IdSet {

  /** Hears of a range; both ends are in it. */
  interface Range {
    void of(long from, long to);
  }

  private final TreeMap<Long, Long> ranges = new TreeMap<>(); // from → to, never touching

  boolean contains(long id) {
    Map.Entry<Long, Long> range = ranges.floorEntry(id);
    return range != null && id <= range.getValue();
  }

  /** Adds all numbers from the first to the last. */
  void add(long from, long to) {
    if (from > to) {
      throw new IllegalArgumentException("from=" + from + " to=" + to);
    }
    long begin = from;
    long end = to;
    Map.Entry<Long, Long> before = ranges.floorEntry(from);
    if (before != null && before.getValue() >= from - 1) {
      begin = before.getKey();
      end = Math.max(end, before.getValue());
    }
    Map.Entry<Long, Long> next = ranges.higherEntry(begin);
    while (next != null && next.getKey() - 1 <= end) {
      end = Math.max(end, next.getValue());
      ranges.remove(next.getKey());
      next = ranges.higherEntry(begin);
    }
    ranges.put(begin, end);
  }

  void add(long id) {
    add(id, id);
  }

  int ranges() {
    return ranges.size();
  }

  /** In ascending order. */
  void forEach(Range range) {
    ranges.forEach(range::of);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof IdSet set && ranges.equals(set.ranges);
  }

  @Override
  public int hashCode() {
    return ranges.hashCode();
  }

  @Override
  public String toString() {
    return ranges.toString();
  }
}
