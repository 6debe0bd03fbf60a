package dev.warmpath.kvindex.block;

import com.dynatrace.hash4j.hashing.ByteAccess;

/**
 * Reads token ids as their little-endian bytes, in place.
 *
 * <p>The hash reads at token boundaries only, as far as seen; other offsets are slow but right.
 */
enum TokenBytes implements ByteAccess<int[]> {
  INSTANCE;

  @Override
  public byte getByte(int[] tokenIds, long index) {
    return (byte) (tokenIds[(int) (index >> 2)] >>> (8 * (int) (index & 3)));
  }

  @Override
  public int getInt(int[] tokenIds, long index) {
    return (index & 3) == 0
        ? tokenIds[(int) (index >> 2)]
        : ByteAccess.super.getInt(tokenIds, index);
  }

  @Override
  public long getLong(int[] tokenIds, long index) {
    if ((index & 3) != 0) {
      return ByteAccess.super.getLong(tokenIds, index);
    }
    int low = (int) (index >> 2);
    return Integer.toUnsignedLong(tokenIds[low]) | (long) tokenIds[low + 1] << 32;
  }
}
