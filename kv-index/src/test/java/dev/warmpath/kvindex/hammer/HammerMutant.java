package dev.warmpath.kvindex.hammer;

import dev.warmpath.kvindex.CacheLayout;
import dev.warmpath.kvindex.ForwardingIndex;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.RemovedBlocks;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.kvindex.block.BlockChain;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Indexes that are right when nobody writes, and show readers what never was while somebody does.
 */
enum HammerMutant {
  /** An engine is not credited while its blocks are written. */
  TAKES_ENGINES_AWAY_TO_WRITE {
    @Override
    KvIndex of(KvIndex right) {
      return new ForwardingIndex(right) {
        private final AtomicLong queries = new AtomicLong();
        private final Map<Integer, CacheLayout> layouts = new HashMap<>();

        @Override
        public void layout(int slot, CacheLayout layout) {
          super.layout(slot, layout);
          layouts.put(slot, layout);
        }

        @Override
        public void stored(int slot, StoredBlocks blocks) {
          super.layout(slot, new CacheLayout(List.of(), 0, 0));
          awaitNext(queries);
          super.layout(slot, layouts.get(slot));
          super.stored(slot, blocks);
        }

        @Override
        public void match(BlockChain prompt, PrefixMatches matches) {
          super.match(prompt, matches);
          queries.incrementAndGet();
        }
      };
    }
  },
  /** The beginning of a path is read before the rest. */
  READS_PATHS_IN_TWO_PARTS {
    @Override
    KvIndex of(KvIndex right) {
      return new ForwardingIndex(right) {
        private final AtomicLong writes = new AtomicLong();

        @Override
        public void removed(int slot, RemovedBlocks blocks) {
          super.removed(slot, blocks);
          writes.incrementAndGet();
        }

        @Override
        public void match(BlockChain prompt, PrefixMatches matches) {
          PrefixMatches beginning = new PrefixMatches();
          super.match(firstHalf(prompt), beginning);
          awaitNext(writes);
          super.match(prompt, matches);
          for (int slot = 0; slot < beginning.slots(); slot++) {
            for (StorageTier tier : StorageTier.values()) {
              int tokens = Math.max(beginning.tokens(slot, tier), matches.tokens(slot, tier));
              matches.set(slot, tier, tokens);
            }
          }
        }
      };
    }
  },
  /** Each engine's answer is right, but they belong to different times. */
  ANSWERS_FOR_ENGINES_AT_DIFFERENT_TIMES {
    @Override
    KvIndex of(KvIndex right) {
      return new ForwardingIndex(right) {
        private final AtomicLong writes = new AtomicLong();

        @Override
        public void stored(int slot, StoredBlocks blocks) {
          super.stored(slot, blocks);
          writes.incrementAndGet();
        }

        @Override
        public void match(BlockChain prompt, PrefixMatches matches) {
          PrefixMatches before = new PrefixMatches();
          super.match(prompt, before);
          awaitNext(writes);
          super.match(prompt, matches);
          for (int slot = 0; slot < before.slots(); slot += 2) {
            for (StorageTier tier : StorageTier.values()) {
              matches.set(slot, tier, before.tokens(slot, tier));
            }
          }
        }
      };
    }
  };

  private static final int MAX_YIELDS = 1_000;

  /** The mutant that this makes of an index that is right. */
  abstract KvIndex of(KvIndex right);

  private static BlockChain firstHalf(BlockChain prompt) {
    long[] localHashes = new long[prompt.blocks() / 2];
    Arrays.setAll(localHashes, prompt::localHash);
    return BlockChain.ofLocalHashes(prompt.space(), localHashes);
  }

  /** Waits for the other side to do two more, but not for ever: it may be about to end. */
  private static void awaitNext(AtomicLong counter) {
    long next = counter.get() + 2;
    for (int i = 0; i < MAX_YIELDS && counter.get() < next; i++) {
      Thread.yield();
    }
  }
}
