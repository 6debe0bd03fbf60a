package dev.warmpath.kvindex.block;

import com.dynatrace.hash4j.hashing.ByteAccess;
import com.dynatrace.hash4j.hashing.HashStream64;
import com.dynatrace.hash4j.hashing.Hasher64;
import com.dynatrace.hash4j.hashing.Hashing;
import java.util.List;

/**
 * The two hashes that name a block: the local hash of its content and the block key of its content
 * and whole prefix.
 *
 * <p>Both are XXH3-64. The local hash is that of the tokens; extra keys are hashed behind it, typed
 * and length-prefixed, so that no two lists of keys give the same bytes.
 */
public final class BlockHasher {

  private static final Hasher64 XXH3 = Hashing.xxh3_64();
  private static final ThreadLocal<HashStream64> STREAM = ThreadLocal.withInitial(XXH3::hashStream);

  private BlockHasher() {}

  /**
   * The local hash of one block.
   *
   * @param tokenIds holds the block and, right after it, its lookahead tokens
   * @param from index of the block's first token
   * @param lengthTokens tokens of the block and of its lookahead together
   * @param extraKeys in the engine's order
   */
  public static long localHash(
      int[] tokenIds, int from, int lengthTokens, List<ExtraKey> extraKeys) {
    long tokens =
        XXH3.hashBytesToLong(
            tokenIds,
            (long) Integer.BYTES * from,
            (long) Integer.BYTES * lengthTokens,
            TokenBytes.INSTANCE);
    return extraKeys.isEmpty() ? tokens : withKeys(tokens, extraKeys);
  }

  /**
   * The key of the block with this local hash behind the block (or root) with key {@code
   * parentKey}.
   */
  public static long blockKey(long parentKey, long localHash) {
    return XXH3.hashLongLongToLong(parentKey, localHash);
  }

  static long rootKey(ChainSpace space) {
    HashStream64 stream = STREAM.get().reset();
    put(stream, space.model());
    stream.putInt(space.blockSizeTokens());
    stream.putInt(space.lookaheadTokens());
    return stream.getAsLong();
  }

  private static long withKeys(long tokens, List<ExtraKey> extraKeys) {
    HashStream64 stream = STREAM.get().reset().putLong(tokens);
    for (ExtraKey key : extraKeys) {
      put(stream, key);
    }
    return stream.getAsLong();
  }

  private static void put(HashStream64 stream, ExtraKey key) {
    if (key instanceof ExtraKey.Lora lora) {
      put(stream.putByte((byte) 1), lora.name());
    } else if (key instanceof ExtraKey.Multimodal item) {
      put(stream.putByte((byte) 2), item.identifier()).putInt(item.offset());
    } else if (key instanceof ExtraKey.CacheSalt salt) {
      put(stream.putByte((byte) 3), salt.salt());
    } else if (key instanceof ExtraKey.PromptEmbeds embeds) {
      put(stream.putByte((byte) 4), embeds.digest());
    }
  }

  /** The library's own {@code putString} writes the length last, which is ambiguous in a list. */
  private static HashStream64 put(HashStream64 stream, String text) {
    return stream.putInt(text.length()).putChars(text);
  }

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
}
