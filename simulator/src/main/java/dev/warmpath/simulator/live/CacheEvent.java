package dev.warmpath.simulator.live;

import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.block.ExtraKey;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One change of the cache that the engine announces. Immutable. */
public sealed interface CacheEvent {

  /**
   * Consecutive full blocks were committed for one request.
   *
   * @param tier which of the engine's memories holds them
   * @param parent hash of the block before the first token, or null at the start of a prompt
   * @param hashes of the blocks; fewer than {@code tokenIds} cover when the group keeps only some
   * @param tokenIds all tokens of the range
   * @param extraKeys one list per hash
   */
  @SuppressWarnings("ArrayRecordComponent") // read at once, never compared
  record Stored(
      StorageTier tier,
      CacheGroup group,
      @Nullable BlockHash parent,
      List<BlockHash> hashes,
      int[] tokenIds,
      List<List<ExtraKey>> extraKeys,
      @Nullable String loraName)
      implements CacheEvent {

    public Stored {
      hashes = List.copyOf(hashes);
      extraKeys = List.copyOf(extraKeys);
      if (extraKeys.size() != hashes.size()) {
        throw new IllegalArgumentException(
            "hashes=" + hashes.size() + " extraKeys=" + extraKeys.size());
      }
    }

    /** Blocks in GPU memory. */
    public Stored(
        CacheGroup group,
        @Nullable BlockHash parent,
        List<BlockHash> hashes,
        int[] tokenIds,
        List<List<ExtraKey>> extraKeys,
        @Nullable String loraName) {
      this(StorageTier.GPU, group, parent, hashes, tokenIds, extraKeys, loraName);
    }
  }

  /**
   * A block was put into a store that other engines read too, as vLLM's MooncakeStoreConnector says
   * it: without extra keys.
   */
  @SuppressWarnings("ArrayRecordComponent") // read at once, never compared
  record Put(CacheGroup group, @Nullable BlockHash parent, BlockHash hash, int[] tokenIds)
      implements CacheEvent {}

  /** One copy of a block was evicted. */
  record Removed(StorageTier tier, int group, BlockHash hash) implements CacheEvent {

    /** A copy in GPU memory. */
    public Removed(int group, BlockHash hash) {
      this(StorageTier.GPU, group, hash);
    }
  }

  /** The whole cache was emptied. */
  record Cleared() implements CacheEvent {}
}
