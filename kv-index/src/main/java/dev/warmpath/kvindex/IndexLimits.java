package dev.warmpath.kvindex;

/**
 * What an index may take.
 *
 * @param maxOrphansPerEngine how many blocks of one engine may wait for their parent's name
 * @param maxBytes bound of all its arrays together; beyond it the blocks that nobody asked for are
 *     forgotten first. With less than 300 kB nothing is kept, and an empty index takes 120 kB
 */
public record IndexLimits(int maxOrphansPerEngine, long maxBytes) {

  public IndexLimits {
    if (maxOrphansPerEngine < 0) {
      throw new IllegalArgumentException("maxOrphansPerEngine=" + maxOrphansPerEngine);
    }
    if (maxBytes < 1) {
      throw new IllegalArgumentException("maxBytes=" + maxBytes);
    }
  }

  /** As many bytes as the heap gives. */
  public static IndexLimits unbounded(int maxOrphansPerEngine) {
    return new IndexLimits(maxOrphansPerEngine, Long.MAX_VALUE);
  }
}
