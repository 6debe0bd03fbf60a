package dev.warmpath.kvindex.workload;

/**
 * The engine hashes that engines give to blocks: from few numbers, so that two engines use the same
 * one for different blocks.
 *
 * <p>Immutable.
 */
final class Dialect {

  /** So many kinds of hashes; further dialects use the small numbers of the first one otherwise. */
  static final int KINDS = 6;

  /** Added to the hashes of a second set, for engines that call the same block two ways. */
  static final long ALIAS = 1L << 40;

  private static final int MAX_PLACES = 1 << 20;
  private static final long ODD = 0x9E3779B97F4A7C15L;
  private static final long INVERSE = inverse(ODD);

  private Dialect() {}

  /** The hash of the block with this number; different blocks have different hashes. */
  static long hash(int dialect, int place) {
    return switch (dialect) {
      case 0 -> place;
      case 1 -> place + 1;
      case 2 -> 255 - place;
      case 3 -> place * ODD;
      case 4 -> (long) place << 32;
      case 5 -> Long.MIN_VALUE + place;
      default -> place + 3L * (dialect - KINDS);
    };
  }

  /**
   * A hash in a few characters: {@code h7}, another letter where the numbers are far apart, and
   * {@code 'h7} in the second set.
   */
  static String text(long hash) {
    String first = firstSet(hash);
    String second = firstSet(hash - ALIAS);
    return second.length() < first.length() ? "'" + second : first;
  }

  private static String firstSet(long hash) {
    if (isPlace(hash)) {
      return "h" + hash;
    } else if (isPlace(hash - Long.MIN_VALUE)) {
      return "m" + (hash - Long.MIN_VALUE);
    } else if (isPlace(hash * INVERSE)) {
      return "x" + hash * INVERSE;
    } else if ((hash & 0xFFFF_FFFFL) == 0 && isPlace(hash >> 32)) {
      return "w" + (hash >> 32);
    }
    return "h" + hash;
  }

  /** Whether block {@code at} is as far from the one before as block {@code like} is, one place. */
  static boolean follows(long[] hashes, int at, int like) {
    long distance = hashes[at] - hashes[at - 1];
    boolean onePlace =
        Math.abs(distance) == 1 || Math.abs(distance) == 1L << 32 || Math.abs(distance) == -ODD;
    return onePlace && distance == hashes[like] - hashes[like - 1];
  }

  private static boolean isPlace(long number) {
    return -MAX_PLACES < number && number < MAX_PLACES;
  }

  /** Each step doubles the number of correct bits. */
  private static long inverse(long odd) {
    long inverse = odd;
    for (int i = 0; i < 6; i++) {
      inverse *= 2 - odd * inverse;
    }
    return inverse;
  }
}
