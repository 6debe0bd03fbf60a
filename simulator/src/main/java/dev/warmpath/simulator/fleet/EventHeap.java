package dev.warmpath.simulator.fleet;

import java.util.Arrays;

/**
 * What is going to happen, the earliest first; of what happens at the same time, what was said
 * first.
 *
 * <p>Single writer.
 */
final class EventHeap {

  /** What happens. */
  enum Kind {
    ARRIVAL,
    STEP_END,
    EVENTS_HEARD,
    INCIDENT,
    TICK,
    MESSAGE,
    TRANSFERRED,
    PATIENCE_ENDS,
    LOOK;

    private static final Kind[] ALL = values(); // 16 at most: see `what`

    private int talk() {
      return this == TICK || this == MESSAGE ? 1 : 0;
    }
  }

  private static final int KIND_BITS = 4;

  private long[] nanos = new long[64];
  private long[] order = new long[64];
  private long[] what = new long[64];
  private int size;
  private long added;
  private int talk;

  boolean isEmpty() {
    return size == 0;
  }

  /** Whether nothing is left but what routers do among themselves. */
  boolean isQuiet() {
    return size == talk;
  }

  /** {@code kind} happens to {@code subject}, a number from 0 to 2^59. */
  void add(long atNanos, Kind kind, long subject) {
    if (size == nanos.length) {
      nanos = Arrays.copyOf(nanos, 2 * size);
      order = Arrays.copyOf(order, 2 * size);
      what = Arrays.copyOf(what, 2 * size);
    }
    talk += kind.talk();
    int place = size++;
    long number = added++;
    long both = subject << KIND_BITS | kind.ordinal();
    while (place > 0) {
      int above = (place - 1) >>> 1;
      if (nanos[above] <= atNanos) { // what was added later comes later
        break;
      }
      move(above, place);
      place = above;
    }
    set(place, atNanos, number, both);
  }

  /** When the next thing happens. */
  long nextNanos() {
    return nanos[0];
  }

  Kind nextKind() {
    return Kind.ALL[(int) (what[0] & (1 << KIND_BITS) - 1)];
  }

  long nextSubject() {
    return what[0] >>> KIND_BITS;
  }

  /** The next thing has happened. */
  void remove() {
    talk -= nextKind().talk();
    size--;
    if (size == 0) {
      return;
    }
    long lastNanos = nanos[size];
    long lastOrder = order[size];
    long lastWhat = what[size];
    int place = 0;
    int below = 1;
    while (below < size) {
      if (below + 1 < size && isBefore(below + 1, nanos[below], order[below])) {
        below++;
      }
      if (!isBefore(below, lastNanos, lastOrder)) {
        break;
      }
      move(below, place);
      place = below;
      below = 2 * place + 1;
    }
    set(place, lastNanos, lastOrder, lastWhat);
  }

  private boolean isBefore(int place, long atNanos, long number) {
    return nanos[place] < atNanos || (nanos[place] == atNanos && order[place] < number);
  }

  private void move(int from, int to) {
    set(to, nanos[from], order[from], what[from]);
  }

  private void set(int place, long atNanos, long number, long both) {
    nanos[place] = atNanos;
    order[place] = number;
    what[place] = both;
  }
}
