package dev.warmpath.tokenizer.encode;

/**
 * What one layer of the memory takes: the beginnings of texts, their chunks, or their words.
 *
 * @param bytes bytes in use, about
 * @param maxBytes bytes that may be used
 * @param evictions what made room since the tokenizer was loaded
 */
public record LayerCounts(long bytes, long maxBytes, long evictions) {

  /** This layer and another one together. */
  LayerCounts and(LayerCounts other) {
    return new LayerCounts(
        bytes + other.bytes, maxBytes + other.maxBytes, evictions + other.evictions);
  }
}
