package dev.warmpath.simulator.live;

import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * The digest by which the engine names a block and its whole prefix.
 *
 * <p>Immutable.
 */
public final class BlockHash {

  /** 2⁶⁴ divided by the golden ratio: odd, so that no bit of a digest is lost. */
  private static final long MIX = 0x9E3779B97F4A7C15L;

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

  /**
   * 64 bits of the whole digest. Two blocks that an engine keeps apart have different names, though
   * what it publishes of them may be equal.
   */
  public long name() {
    ByteBuffer bytes = ByteBuffer.wrap(digest);
    long name = 0;
    while (bytes.remaining() >= Long.BYTES) {
      name = name * MIX + bytes.getLong();
    }
    return name;
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
