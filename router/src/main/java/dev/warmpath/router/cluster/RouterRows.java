package dev.warmpath.router.cluster;

import dev.warmpath.router.cluster.Rows.ClientRow;
import dev.warmpath.router.cluster.Rows.EngineRow;
import dev.warmpath.router.cluster.Rows.IdSet;
import dev.warmpath.router.cluster.Rows.QueueRow;
import dev.warmpath.router.fleet.Booking;
import dev.warmpath.router.fleet.EngineState;
import dev.warmpath.router.fleet.Reservation;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What is known of one router: its bookings, what it has seen of engines, what it let clients use.
 * That router alone changes them; here they are merged from what it tells.
 *
 * <p>Confined to its cluster's lock.
 */
final class RouterRows {

  /*
   * A join semilattice, so that messages may be lost, repeated and reordered:
   *
   *   a booking   unknown < told of | prefilled, not told of < told of and prefilled < ended
   *   a row       the higher version counts
   *
   * An ended booking keeps its id alone, and ids that follow each other are one range: what stays of
   * bookings is as large as what is under way. What was not heard of is neither: the teller's digest
   * shows it, and all that it has is asked for.
   *
   * I1  no id is both in `live` and in `ended`
   * I2  `digest` is the sum over live bookings and rows, whatever came in between
   * I3  a live booking that was told of and whose engine is in the fleet has a reservation there
   */

  /** More bookings of one router are not taken: no router has so many requests in flight. */
  static final int MOST_BOOKINGS = 1 << 16;

  /** More engines or clients are not taken. */
  static final int MOST_ROWS = 1 << 14;

  /** A request that is under way. */
  static final class Live {
    final long id;
    @Nullable Booking booking;
    boolean prefilled;
    long bornNanos;
    @Nullable EngineState engine;
    @Nullable Reservation reservation;

    Live(long id) {
      this.id = id;
    }

    private boolean isSame(@Nullable Live other) {
      return other != null
          && prefilled == other.prefilled
          && Objects.equals(booking, other.booking);
    }

    private long hash() {
      int stage = (booking == null ? 0 : 1) + (prefilled ? 2 : 0);
      return Rows.digest(4 * id + stage);
    }
  }

  /** Hears what a merge has changed. */
  interface Changes {

    /** For one's own rows. */
    Changes NONE =
        new Changes() {
          @Override
          public void booked(Live live) {}

          @Override
          public void prefilled(Live live) {}

          @Override
          public void ended(Live live, boolean computed) {}

          @Override
          public void engine(EngineRow row, @Nullable EngineRow before) {}

          @Override
          public void client(ClientRow row, @Nullable ClientRow before) {}
        };

    /** A booking is told of for the first time; it may be prefilled already. */
    void booked(Live live);

    /** One that was told of has its first token. */
    void prefilled(Live live);

    /** One that was told of is over. */
    void ended(Live live, boolean computed);

    /** An engine was seen to be otherwise than {@code before}; null if that was not known. */
    void engine(EngineRow row, @Nullable EngineRow before);

    /**
     * A client has used more, or less than was thought.
     *
     * @param before what was known; null if nothing
     */
    void client(ClientRow row, @Nullable ClientRow before);
  }

  private final Map<Long, Live> live = new HashMap<>();
  private final IdSet ended = new IdSet();
  private final Map<String, EngineRow> engines = new HashMap<>();
  private final Map<String, ClientRow> clients = new HashMap<>();
  private QueueRow queue = QueueRow.NONE;
  private long digest;
  private long refused;

  /** Takes what the router tells of itself. */
  void merge(Rows rows, long nowNanos, Changes changes) {
    for (Rows.Booked booked : rows.booked) {
      book(booked.booking(), nowNanos - 1_000 * booked.ageMicros(), changes);
    }
    for (long id : rows.prefilled) {
      prefilled(id, changes);
    }
    rows.ended.forEach((from, to) -> end(from, to, rows.notComputed, changes));
    for (EngineRow row : rows.engines) {
      engine(row, changes);
    }
    for (ClientRow row : rows.clients) {
      client(row, changes);
    }
    if (rows.queue.version() > queue.version()) {
      queue = rows.queue;
    }
  }

  private @Nullable Live row(long id) {
    if (ended.contains(id)) {
      return null;
    }
    Live known = live.get(id);
    if (known == null && live.size() >= MOST_BOOKINGS) {
      refused++;
      return null;
    }
    if (known == null) {
      known = new Live(id);
      live.put(id, known);
      digest += known.hash();
    }
    return known;
  }

  void book(Booking booking, long bornNanos, Changes changes) {
    Live row = row(booking.id());
    if (row != null && row.booking == null) {
      digest -= row.hash();
      row.booking = booking;
      row.bornNanos = bornNanos;
      digest += row.hash();
      changes.booked(row);
      row.booking = booking.withoutNote(); // it was remembered
    }
  }

  void prefilled(long id, Changes changes) {
    Live row = row(id);
    if (row != null && !row.prefilled) {
      digest -= row.hash();
      row.prefilled = true;
      digest += row.hash();
      if (row.booking != null) {
        changes.prefilled(row);
      }
    }
  }

  void end(long from, long to, Collection<Long> notComputed, Changes changes) {
    ended.add(from, to);
    if (to - from < live.size()) {
      for (long id = from; id <= to; id++) {
        end(live.remove(id), notComputed, changes);
      }
    } else {
      live.values()
          .removeIf(row -> row.id >= from && row.id <= to && end(row, notComputed, changes));
    }
  }

  private boolean end(@Nullable Live row, Collection<Long> notComputed, Changes changes) {
    if (row != null) {
      digest -= row.hash();
      if (row.booking != null) {
        changes.ended(row, !notComputed.contains(row.id));
      }
    }
    return true;
  }

  void engine(EngineRow row, Changes changes) {
    EngineRow known = engines.get(row.engine());
    if (known == null ? engines.size() < MOST_ROWS : row.version() > known.version()) {
      engines.put(row.engine(), row);
      digest += hash(row) - (known == null ? 0 : hash(known));
      changes.engine(row, known);
    }
  }

  void client(ClientRow row, Changes changes) {
    ClientRow known = clients.get(row.client());
    if (known == null ? clients.size() < MOST_ROWS : row.version() > known.version()) {
      clients.put(row.client(), row);
      digest += hash(row) - (known == null ? 0 : hash(known));
      changes.client(row, known);
    }
  }

  private static long hash(EngineRow row) {
    return Rows.digest(Objects.hash("engine", row.engine(), row.version()));
  }

  private static long hash(ClientRow row) {
    return Rows.digest(Objects.hash("client", row.client(), row.version()));
  }

  /** All of it, as its router would tell it. */
  Rows whole(long nowNanos) {
    Rows rows = new Rows();
    for (Live row : live.values()) {
      Booking booking = row.booking;
      if (booking != null) {
        rows.booked.add(
            new Rows.Booked(
                booking.withoutNote(), Math.max(0, (nowNanos - row.bornNanos) / 1_000)));
      }
      if (row.prefilled) {
        rows.prefilled.add(row.id);
      }
    }
    ended.forEach(rows.ended::add);
    rows.engines.addAll(engines.values());
    rows.clients.addAll(clients.values());
    rows.queue = queue;
    return rows;
  }

  @Nullable Live live(long id) {
    return live.get(id);
  }

  void queue(QueueRow row) {
    queue = row;
  }

  /** Ranges of ids that are over: hardly more than are under way, unless messages were lost. */
  int endedRanges() {
    return ended.ranges();
  }

  Collection<EngineRow> engines() {
    return engines.values();
  }

  @Nullable EngineRow engine(String name) {
    return engines.get(name);
  }

  @Nullable ClientRow client(String name) {
    return clients.get(name);
  }

  /** Requests under way. */
  Collection<Live> live() {
    return live.values();
  }

  QueueRow queue() {
    return queue;
  }

  /** Equal where all that was told is known. */
  long digest() {
    return digest;
  }

  /** Rows that found no room. */
  long refused() {
    return refused;
  }

  /** Whether both know the same of a router. */
  boolean isSame(RouterRows other) {
    return digest == other.digest
        && ended.equals(other.ended)
        && engines.equals(other.engines)
        && clients.equals(other.clients)
        && queue.equals(other.queue)
        && live.keySet().equals(other.live.keySet())
        && live.values().stream().allMatch(row -> row.isSame(other.live.get(row.id)));
  }
}
