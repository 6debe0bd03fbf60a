package dev.warmpath.simulator.live;

import dev.warmpath.kvindex.block.ExtraKey;
import dev.warmpath.kvindex.enginehash.EngineHasher;
import dev.warmpath.kvindex.enginehash.HashAlgorithm;
import dev.warmpath.kvindex.enginehash.HashScheme;
import dev.warmpath.kvindex.enginehash.HashScheme.HashedKeys;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The engine's hash function over blocks.
 *
 * <p>Thread-safe: the same arguments give the same hash, always.
 */
@FunctionalInterface
public interface BlockHashing {

  /**
   * The hash of the block {@code tokenIds[from, from + length)} behind {@code parent}.
   *
   * @param parent hash of the block before, or null for the first block
   * @param extraKeys in the engine's order; empty for plain text
   */
  BlockHash hash(
      @Nullable BlockHash parent, int[] tokenIds, int from, int length, List<ExtraKey> extraKeys);

  /**
   * vLLM's own block hashes, as of 0.32 without a configured seed.
   *
   * <p>Thread-safe.
   */
  final class Vllm implements BlockHashing {

    private final EngineHasher hasher;

    Vllm(HashAlgorithm algorithm, int blockSizeTokens, Map<String, String> adapters) {
      HashScheme scheme =
          new HashScheme(algorithm, HashScheme.DEFAULT_SEED, HashedKeys.TAGGED, blockSizeTokens, 0);
      hasher = new EngineHasher(scheme, name -> adapters.getOrDefault(name, name));
    }

    @Override
    public BlockHash hash(
        @Nullable BlockHash parent,
        int[] tokenIds,
        int from,
        int length,
        List<ExtraKey> extraKeys) {
      if (length != hasher.scheme().blockSizeTokens()) {
        throw new IllegalArgumentException("length=" + length);
      }
      byte[] above = parent == null ? hasher.rootHash() : parent.digest();
      return new BlockHash(hasher.hash(above, tokenIds, from, extraKeys));
    }
  }
}
