package dev.warmpath.simulator.bench.generate.fleet;

import dev.warmpath.simulator.bench.corpus.ExactAnswers;
import dev.warmpath.simulator.bench.corpus.HeldBlocks;
import dev.warmpath.simulator.bench.corpus.Sums;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * Engines with LRU caches that serve requests and announce what they store and evict.
 *
 * <p>For each request: the engine with the least (blocks to compute + decayed load) is chosen; a
 * query with the whole prompt is recorded; the engine evicts what is in the way, a prompt's end
 * first, never blocks of the request itself, and stores the missing blocks.
 *
 * <p>Single writer.
 */
final class Fleet {

  private final FleetPlan plan;
  private final EventWriter writer;
  private final HeldBlocks held = new HeldBlocks();
  private final EngineCache[] caches;
  private final Balance balance;
  private final List<int[]> chains = new ArrayList<>();
  private final Random random;
  private Sums interleaved = Sums.NONE;

  Fleet(FleetPlan plan, EventWriter writer, long seed) {
    this.plan = plan;
    this.writer = writer;
    caches = new EngineCache[plan.engines()];
    Arrays.setAll(caches, engine -> new EngineCache(plan.capacityBlocks()));
    balance = new Balance(plan.engines());
    random = new Random(seed);
  }

  /** One request from the query to the last store. */
  void serve(double seconds, int[] prompt) {
    int[] chain = cut(prompt);
    int[] depths = Arrays.copyOf(held.depths(chain), plan.engines());
    interleaved = interleaved.plus(Sums.of(depths));
    chains.add(chain);
    int engine = balance.choose(seconds, chain.length, depths);
    writer.query(engine, chain);
    compute(engine, chain);
    dropSome(engine, chain);
  }

  /** What an exact index answers to all queries so far. */
  ExactAnswers answers() {
    Sums atEnd = Sums.NONE;
    for (int[] chain : chains) {
      atEnd = atEnd.plus(Sums.of(held.depths(chain)));
    }
    return new ExactAnswers(interleaved, atEnd, held.memberships());
  }

  private int[] cut(int[] chain) {
    return chain.length <= plan.capacityBlocks()
        ? chain
        : Arrays.copyOf(chain, plan.capacityBlocks());
  }

  private void compute(int engine, int[] chain) {
    EngineCache cache = caches[engine];
    for (int block : chain) {
      cache.touch(block);
    }
    int begin = 0;
    while (begin < chain.length) {
      int end = begin;
      while (end < chain.length && end - begin < plan.storeBlocks() && !cache.holds(chain[end])) {
        end++;
      }
      if (end > begin) {
        evict(engine, end - begin);
        store(engine, chain, begin, end);
      }
      begin = Math.max(end, begin + 1);
    }
    for (int i = chain.length - 1; i >= 0; i--) {
      cache.touch(chain[i]);
    }
  }

  private void evict(int engine, int added) {
    int[] evicted = caches[engine].makeRoom(added);
    if (plan.singleRemovals()) {
      for (int block : evicted) {
        writer.removed(engine, 0, block);
      }
    } else if (evicted.length > 0) {
      writer.removed(engine, 0, evicted);
    }
    for (int block : evicted) {
      held.remove(engine, block);
    }
  }

  private void store(int engine, int[] chain, int begin, int end) {
    writer.stored(engine, 0, chain, begin, end);
    for (int i = begin; i < end; i++) {
      caches[engine].add(chain[i]);
      held.add(engine, chain[i]);
    }
  }

  private void dropSome(int engine, int[] chain) {
    if (plan.holeShare() > 0) {
      for (int block : chain) {
        if (random.nextDouble() < plan.holeShare()) {
          caches[engine].remove(block);
          held.remove(engine, block);
          writer.removed(engine, 0, block);
        }
      }
    }
  }
}
