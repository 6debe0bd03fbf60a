package dev.warmpath.simulator.engine.cache;

import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * The digest by which the engine names a block and its whole prefix.
 *
 * <p>Immutable.
 */
public final class BlockHash {

  private final byte[] digest;

  /** Takes a copy of {@code digest}, at least 8 bytes. */
  public BlockHash(byte[] digest) {
    if (digest.length < Long.BYTES) {
      throw new IllegalArgumentException("digestBytes=" + digest.length);
    }
    this.digest = digest.clone();
  }

  /** A copy of the whole digest. */
  public byte[] digest() {
    return digest.clone();
  }

  /** The last 8 bytes, big-endian: what an engine publishes as an integer. */
  public long low64() {
    return ByteBuffer.wrap(digest).getLong(digest.length - Long.BYTES);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof BlockHash that && Arrays.equals(digest, that.digest);
  }

  @Override
  public int hashCode() {
    return Long.hashCode(low64());
  }

  @Override
  public String toString() {
    return Long.toHexString(low64());
  }
}
