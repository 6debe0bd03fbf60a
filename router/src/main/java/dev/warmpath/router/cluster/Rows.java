package dev.warmpath.router.cluster;

import dev.warmpath.router.fleet.Booking;
import dev.warmpath.router.fleet.PrefillModel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What one router tells of itself in one message: changes, or all that there is.
 *
 * <p>Not changed once it is told.
 */
public final class Rows {

  /**
   * A booking with its age.
   *
   * @param ageMicros since it was made, by the teller's clock; the way here comes on top
   */
  record Booked(Booking booking, long ageMicros) {}

  /**
   * What a router has seen of an engine.
   *
   * @param version grows with each change
   * @param ejectedMillis for so long it still gives the engine no requests; 0 if it does
   */
  record EngineRow(String engine, long version, PrefillModel.Speed speed, long ejectedMillis) {}

  /**
   * What a router has let a client use since it started.
   *
   * @param version grows with each change
   */
  record ClientRow(String client, long version, long requests, long tokens) {}

  /** A response that can be continued, and where. */
  public record ResponseRow(String id, String replica, @Nullable String client) {}

  /**
   * How many requests wait at a router.
   *
   * @param version grows with each change
   * @param longestMillis how long one of them has waited at most
   */
  record QueueRow(long version, int waiting, long longestMillis) {
    static final QueueRow NONE = new QueueRow(0, 0, 0);
  }

  QueueRow queue = QueueRow.NONE;
  final List<Booked> booked = new ArrayList<>();
  final List<Long> prefilled = new ArrayList<>();
  final IdSet ended = new IdSet();

  /** Of those that ended, whose prompts were not computed. */
  final List<Long> notComputed = new ArrayList<>();

  final List<EngineRow> engines = new ArrayList<>();
  final List<ClientRow> clients = new ArrayList<>();
  final List<ResponseRow> responses = new ArrayList<>();
  final List<LastWriterMap.Entry> settings = new ArrayList<>();

  /** Spreads a number over all 64 bits, as SplitMix64 does, so that sums tell sets apart. */
  static long digest(long value) {
    long mixed = value + 0x9e3779b97f4a7c15L;
    mixed = (mixed ^ (mixed >>> 30)) * 0xbf58476d1ce4e5b9L;
    mixed = (mixed ^ (mixed >>> 27)) * 0x94d049bb133111ebL;
    return mixed ^ (mixed >>> 31);
  }

  boolean isEmpty() {
    return queue.version() == 0
        && booked.isEmpty()
        && prefilled.isEmpty()
        && ended.ranges() == 0
        && engines.isEmpty()
        && clients.isEmpty()
        && responses.isEmpty()
        && settings.isEmpty();
  }

  /**
   * A set of numbers as ranges: small where they follow each other, however many there are.
   *
   * <p>Confined to its owner's lock.
   */
  static final class IdSet {

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
}
