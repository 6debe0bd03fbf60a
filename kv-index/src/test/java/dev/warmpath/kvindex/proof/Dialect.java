package dev.warmpath.kvindex.proof;

/**
 * The engine hashes that engines give to blocks: from few numbers, so that two engines use the same
 * one for different blocks.
 *
 * <p>Immutable.
 */
final class Dialect {

  static final int COUNT = 6;

  private Dialect() {}

  /** The hash of the block with this number; different blocks have different hashes. */
  static long hash(int dialect, int place) {
    return switch (dialect) {
      case 0 -> place;
      case 1 -> place + 1;
      case 2 -> 255 - place;
      case 3 -> place * 0x9E3779B97F4A7C15L;
      case 4 -> (long) place << 32;
      default -> Long.MIN_VALUE + place;
    };
  }
}
