package dev.warmpath.simulator.live;

import dev.warmpath.kvindex.block.ExtraKey;
import java.util.List;
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
}
