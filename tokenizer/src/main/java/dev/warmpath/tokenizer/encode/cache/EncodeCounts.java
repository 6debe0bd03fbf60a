package dev.warmpath.tokenizer.encode.cache;

/**
 * Where one model's tokens have come from since it was loaded, and what is remembered of them now.
 *
 * <p>Immutable.
 *
 * @param prefixTokens tokens of texts that began like earlier ones
 * @param chunkTokens tokens of chunks that were known
 * @param wordTokens tokens put together from known words, and added tokens
 * @param nativeTokens tokens that the native library made
 * @param bytes bytes in use for all of it, about
 * @param maxBytes bytes that may be used
 * @param evictions pieces, chunks and words that made room
 */
public record EncodeCounts(
    long prefixTokens,
    long chunkTokens,
    long wordTokens,
    long nativeTokens,
    long bytes,
    long maxBytes,
    long evictions) {}
