package dev.warmpath.kvindex;

/**
 * What an index keeps for all engines together, and what it had to leave out.
 *
 * @param bytes taken by its arrays
 * @param maxBytes that they may take; {@link Long#MAX_VALUE} for no bound
 * @param evictedBlocks held blocks that were forgotten, or never noted, for lack of room
 * @param readRetries walks of queries that a write disturbed, so that they began again
 * @param unansweredQueries queries that were disturbed so often that they credited nobody
 */
public record IndexTotals(
    long bytes, long maxBytes, long evictedBlocks, long readRetries, long unansweredQueries) {

  /** Of an index that keeps no such account. */
  public static final IndexTotals NONE = new IndexTotals(0, Long.MAX_VALUE, 0, 0, 0);
}
