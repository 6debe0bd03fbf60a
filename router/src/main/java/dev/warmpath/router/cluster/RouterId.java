package dev.warmpath.router.cluster;

import java.util.Comparator;

/**
 * One router's process. A router that starts again under its name is another one.
 *
 * <p>Immutable.
 *
 * @param name what operators call it; unique among the routers that run
 * @param start drawn when the process started, not negative
 */
public record RouterId(String name, long start) implements Comparable<RouterId> {

  /** Longer names are refused, here and from others. */
  public static final int LONGEST_NAME = 128;

  private static final Comparator<RouterId> ORDER =
      Comparator.comparing(RouterId::name).thenComparingLong(RouterId::start);

  public RouterId {
    if (name.isBlank() || name.length() > LONGEST_NAME) {
      throw new IllegalArgumentException("name='" + name + "'");
    }
    if (start < 0) {
      throw new IllegalArgumentException("start=" + start);
    }
  }

  @Override
  public int compareTo(RouterId other) {
    return ORDER.compare(this, other);
  }

  @Override
  public String toString() {
    return name + "#" + Long.toHexString(start);
  }
}
