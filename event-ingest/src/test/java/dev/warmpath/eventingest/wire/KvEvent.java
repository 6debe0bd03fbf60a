package dev.warmpath.eventingest.wire;

import dev.warmpath.eventingest.wire.EventRow.BlockKeys;
import dev.warmpath.eventingest.wire.EventRow.GroupSpec;
import dev.warmpath.kvindex.block.BlockHasher;
import dev.warmpath.kvindex.block.ExtraKey;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One thing that happened in an engine's KV cache.
 *
 * <p>Engine hashes are normalised to 64 bits: integers to their two's-complement pattern, raw
 * digests to their last 8 bytes, big-endian.
 *
 * <p>Immutable, as long as nobody writes to the arrays.
 */
public sealed interface KvEvent {

  /**
   * The engine holds these blocks now.
   *
   * @param blockHashes engine hashes; empty in some sparse stores
   * @param parentBlockHash the engine hash before the first block, or null at the start of a prompt
   * @param tokens what the blocks say
   * @param keys what else is in their identity
   * @param place where they live
   * @param spec how their group keeps blocks
   */
  @SuppressWarnings("ArrayRecordComponent") // the hot path; equality of events is never asked for
  record BlockStored(
      long[] blockHashes,
      @Nullable Long parentBlockHash,
      BlockTokens tokens,
      BlockKeys keys,
      BlockPlace place,
      GroupSpec spec)
      implements KvEvent {

    /** Whether the blocks can be named by {@link #localHash}. */
    public Naming naming() {
      if (blockHashes.length > 0 && tokens.count() == 0) {
        return Naming.TOKENLESS;
      }
      if (tokens.naming() != Naming.DENSE) {
        return tokens.naming();
      }
      if ((long) blockHashes.length * tokens.blockSizeTokens() != tokens.count()) {
        return Naming.SPARSE;
      }
      return keys.naming();
    }

    /** The extra keys of a block of a store that is {@link Naming#DENSE}. */
    public List<ExtraKey> extraKeys(int block) {
      return keys.of(block, block == 0 && parentBlockHash == null);
    }

    /** The local hash of a block of a store that is {@link Naming#DENSE}. */
    public long localHash(int block) {
      int size = tokens.blockSizeTokens();
      return BlockHasher.localHash(
          tokens.ids(), block * size, size + tokens.lookaheadTokens(), extraKeys(block));
    }
  }

  /** One copy of each of these blocks is gone. */
  @SuppressWarnings("ArrayRecordComponent") // the hot path; equality of events is never asked for
  record BlockRemoved(long[] blockHashes, BlockPlace place) implements KvEvent {}

  /** Nothing is held any more, in no tier and no group. */
  record AllBlocksCleared() implements KvEvent {}
}
