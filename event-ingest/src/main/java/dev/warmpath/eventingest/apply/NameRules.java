package dev.warmpath.eventingest.apply;

import dev.warmpath.eventingest.EngineDialect;
import dev.warmpath.eventingest.count.StreamCounter;
import dev.warmpath.eventingest.count.StreamCounters;
import dev.warmpath.eventingest.wire.Naming;
import dev.warmpath.eventingest.wire.decode.EventRow;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.block.ChainSpace;

/**
 * Which stores show all that the names of their blocks cover; of the others it counts why not.
 *
 * <p>Confined to the writer.
 */
final class NameRules {

  private final EngineDialect dialect;
  private final StreamCounters counters;

  NameRules(EngineDialect dialect, StreamCounters counters) {
    this.dialect = dialect;
    this.counters = counters;
  }

  /** Whether the store's blocks can be named in {@code space}, which the main group has. */
  boolean nameable(EventRow store, StorageTier tier, ChainSpace space, int mainGroup) {
    int count = store.hashCount();
    Naming naming = store.naming();
    if (naming != Naming.DENSE) {
      counters.add(reason(naming), count);
      return false;
    }
    boolean ofMainGroup = store.place().groupIdx() == mainGroup;
    if (store.blockSizeTokens() != space.blockSizeTokens()) {
      counters.add(StreamCounter.PARTIAL_BLOCKS, ofMainGroup ? count : 0);
      return false;
    }
    if (!ofMainGroup) {
      return false;
    }
    if (store.lookaheadTokens() != space.lookaheadTokens() || lacksKeys(store, tier)) {
      counters.add(StreamCounter.UNNAMEABLE_BLOCKS, count);
      return false;
    }
    return true;
  }

  /** vLLM's connectors leave extra keys out, whatever the request had. */
  private boolean lacksKeys(EventRow store, StorageTier tier) {
    return dialect == EngineDialect.VLLM
        && tier != StorageTier.GPU
        && store.keys().perBlock().isEmpty();
  }

  private static StreamCounter reason(Naming naming) {
    return switch (naming) {
      case TOKENLESS -> StreamCounter.TOKENLESS_BLOCKS;
      case SPARSE -> StreamCounter.SPARSE_BLOCKS;
      default -> StreamCounter.UNNAMEABLE_BLOCKS;
    };
  }
}
