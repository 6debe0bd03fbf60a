package dev.warmpath.eventingest.apply;

/**
 * How many blocks an engine's offload tiers give back together: a connector that describes its
 * chunks block by block loads none of them alone.
 *
 * <p>Single writer, many readers.
 */
final class OffloadChunks {

  private volatile int blocks = 1;
  private boolean said;

  /** The engine stored so many described blocks together in an offload tier. */
  void stored(int count) {
    if (!said || blocks != count) {
      blocks = said ? 0 : count;
      said = true;
    }
  }

  /** What is held was stored in chunks of this size; see {@link LearnedCache#chunkBlocks}. */
  void restore(int chunkBlocks) {
    said = chunkBlocks != LearnedCache.NO_CHUNKS;
    blocks = said ? chunkBlocks : 1;
  }

  /** Nothing is held. */
  void forget() {
    blocks = 1;
    said = false;
  }

  /** The blocks of a chunk; 0 if chunks differ, so that nobody can say where they end. */
  int blocks() {
    return blocks;
  }

  /** The same for another process. */
  int learned() {
    return said ? blocks : LearnedCache.NO_CHUNKS;
  }
}
