package dev.warmpath.kvindex.enginehash;

import com.dynatrace.hash4j.hashing.HashValue128;
import com.dynatrace.hash4j.hashing.Hashing;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** How vLLM turns a block into bytes, and the bytes into a hash. */
public enum HashAlgorithm {
  /** {@code sha256}: the bytes of Python's pickle, protocol 5; vLLM's default. */
  SHA256,
  /** {@code sha256_cbor}: canonical CBOR. */
  SHA256_CBOR,
  /** {@code xxhash}: pickle again, and XXH3-128, big-endian. */
  XXHASH,
  /** {@code xxhash_cbor}. */
  XXHASH_CBOR;

  ObjectWriter writer() {
    return this == SHA256 || this == XXHASH ? new PickleWriter() : new CborWriter();
  }

  byte[] digest(byte[] bytes) {
    return this == SHA256 || this == SHA256_CBOR ? sha256(bytes) : xxh3(bytes);
  }

  private static byte[] sha256(byte[] bytes) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(bytes);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  private static byte[] xxh3(byte[] bytes) {
    HashValue128 hash = Hashing.xxh3_128().hashBytesTo128Bits(bytes);
    return ByteBuffer.allocate(2 * Long.BYTES)
        .putLong(hash.getMostSignificantBits())
        .putLong(hash.getLeastSignificantBits())
        .array();
  }
}
