package dev.warmpath.kvindex.measure;

import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.CacheGroup.Kind;
import dev.warmpath.kvindex.CacheLayout;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.RemovedBlocks;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import java.util.List;

/**
 * Prompts of {@value #BLOCKS} blocks on {@value #ENGINES} engines, each behind one of a few system
 * prompts of {@value #SYSTEM_BLOCKS} blocks that every engine holds.
 *
 * <p>Single writer.
 */
final class Prompts {

  static final int BLOCKS = 64;
  static final int SYSTEM_BLOCKS = 8;
  private static final int ENGINES = 16;
  private static final int SYSTEMS = 32;
  private static final ChainSpace SPACE = new ChainSpace("m", 16, 0);
  private static final CacheLayout LAYOUT =
      new CacheLayout(List.of(new CacheGroup(0, Kind.FULL_ATTENTION, 16, 0)), 0, 0);

  private final KvIndex index;
  private final StoredBlocks stored = new StoredBlocks();
  private final RemovedBlocks removed = new RemovedBlocks();

  /** Adds engines and system prompts to an empty index. */
  Prompts(KvIndex index) {
    this.index = index;
    for (int slot = 0; slot < ENGINES; slot++) {
      index.layout(index.addEngine(CopyCounting.PER_COPY), LAYOUT);
      for (int system = 0; system < SYSTEMS; system++) {
        stored.atRoot(StorageTier.GPU, 0, SPACE.rootKey());
        for (int block = 0; block < SYSTEM_BLOCKS; block++) {
          stored.add(engineHash(-1 - system, block), localHash(-1 - system, block));
        }
        index.stored(slot, stored);
      }
    }
  }

  /** Stores the blocks of {@code prompt} behind its system prompt, in one event. */
  void store(int prompt) {
    int system = -1 - prompt % SYSTEMS;
    stored.behind(StorageTier.GPU, 0, engineHash(system, SYSTEM_BLOCKS - 1));
    for (int block = 0; block < BLOCKS; block++) {
      stored.add(engineHash(prompt, block), localHash(prompt, block));
    }
    index.stored(prompt % ENGINES, stored);
  }

  /** Removes the blocks of {@code prompt} from its end, each in an event of its own. */
  void removeOneByOne(int prompt) {
    for (int block = BLOCKS - 1; block >= 0; block--) {
      removed.from(StorageTier.GPU, 0).add(engineHash(prompt, block));
      index.removed(prompt % ENGINES, removed);
    }
  }

  /** The whole prompt, system prompt included. */
  static BlockChain chain(int prompt) {
    long[] hashes = new long[SYSTEM_BLOCKS + BLOCKS];
    for (int block = 0; block < hashes.length; block++) {
      hashes[block] =
          block < SYSTEM_BLOCKS
              ? localHash(-1 - prompt % SYSTEMS, block)
              : localHash(prompt, block - SYSTEM_BLOCKS);
    }
    return BlockChain.ofLocalHashes(SPACE, hashes);
  }

  private static long engineHash(int prompt, int block) {
    return mix(((long) prompt << 8 | block) + 0x1111);
  }

  private static long localHash(int prompt, int block) {
    return mix(((long) prompt << 8 | block) + 0x2222_0000_0000L);
  }

  private static long mix(long number) {
    long x = number * 0x9E3779B97F4A7C15L;
    x = (x ^ x >>> 30) * 0xBF58476D1CE4E5B9L;
    x = (x ^ x >>> 27) * 0x94D049BB133111EBL;
    return x ^ x >>> 31;
  }
}
