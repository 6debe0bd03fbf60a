package dev.warmpath.tokenizer.encode;

/**
 * Where one model's tokens have come from since it was loaded, and what is remembered of them now.
 *
 * @param prefixTokens tokens of texts that began like earlier ones
 * @param chunkTokens tokens of chunks that were known
 * @param wordTokens tokens put together from known words, and added tokens
 * @param nativeTokens tokens that the native library made
 * @param prefixes the pieces of texts' beginnings
 * @param chunks the chunks
 * @param words the words
 */
public record EncodeCounts(
    long prefixTokens,
    long chunkTokens,
    long wordTokens,
    long nativeTokens,
    LayerCounts prefixes,
    LayerCounts chunks,
    LayerCounts words) {

  /** This memory and another one together. */
  public EncodeCounts and(EncodeCounts other) {
    return new EncodeCounts(
        prefixTokens + other.prefixTokens,
        chunkTokens + other.chunkTokens,
        wordTokens + other.wordTokens,
        nativeTokens + other.nativeTokens,
        prefixes.and(other.prefixes),
        chunks.and(other.chunks),
        words.and(other.words));
  }

  /** All layers together. */
  public LayerCounts memory() {
    return prefixes.and(chunks).and(words);
  }

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
}
