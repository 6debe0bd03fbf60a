package dev.warmpath.simulator.bench.generate.fleet;

import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.CacheGroup.Kind;
import dev.warmpath.kvindex.CacheLayout;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.simulator.bench.corpus.CorpusShape;
import java.util.List;

/**
 * Engines of a hybrid model: group {@value #FULL} keeps whole prefixes, group {@value #WINDOW}
 * needs only the last blocks of one.
 *
 * <p>Immutable.
 *
 * @param engines number of engines
 * @param capacityBlocks blocks that each group of an engine can hold
 * @param windowBlocks blocks that the window needs
 */
public record HybridPlan(int engines, int capacityBlocks, int windowBlocks) {

  static final int FULL = 0;
  static final int WINDOW = 1;
  static final int STORE_BLOCKS = 64;
  private static final int BLOCK_TOKENS = 16;

  /** Both groups, in blocks of {@value #BLOCK_TOKENS} tokens, nothing withheld. */
  CorpusShape shape() {
    CacheGroup full = new CacheGroup(FULL, Kind.FULL_ATTENTION, BLOCK_TOKENS, 0);
    int windowTokens = windowBlocks * BLOCK_TOKENS + 1;
    CacheGroup window = new CacheGroup(WINDOW, Kind.SLIDING_WINDOW, BLOCK_TOKENS, windowTokens);
    return new CorpusShape(
        new ChainSpace("bench", BLOCK_TOKENS, 0), new CacheLayout(List.of(full, window), 0, 0));
  }
}
