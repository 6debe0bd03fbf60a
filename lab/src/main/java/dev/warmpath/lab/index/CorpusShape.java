package dev.warmpath.lab.index;

import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.CacheGroup.Kind;
import dev.warmpath.kvindex.CacheLayout;
import dev.warmpath.kvindex.block.ChainSpace;
import java.util.List;

/**
 * What all engines of a corpus have in common: the space of their block keys and how they turn held
 * blocks into hits.
 */
record CorpusShape(ChainSpace space, CacheLayout layout) {

  /** One group with full attention, one token a block, nothing withheld: depths are in blocks. */
  static final CorpusShape SIMPLE =
      new CorpusShape(
          new ChainSpace("bench", 1, 0),
          new CacheLayout(List.of(new CacheGroup(0, Kind.FULL_ATTENTION, 1, 0)), 0, 0));

  /** Tokens a block. */
  int blockTokens() {
    return space.blockSizeTokens();
  }
}
