package dev.warmpath.simulator.bench.generate.fleet;

import dev.warmpath.simulator.bench.corpus.ExactAnswers;
import dev.warmpath.simulator.bench.corpus.Sums;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Engines of a hybrid model that serve requests and announce what they store and evict.
 *
 * <p>After every other request the engine drops what lies outside of the window, so that of many
 * prompts only the end is left in that group.
 *
 * <p>Single writer.
 */
final class HybridFleet {

  private final EventWriter writer;
  private final HybridEngine[] engines;
  private final Balance balance;
  private final List<int[]> chains = new ArrayList<>();
  private Sums interleaved = Sums.NONE;

  HybridFleet(HybridPlan plan, EventWriter writer) {
    this.writer = writer;
    engines = new HybridEngine[plan.engines()];
    Arrays.setAll(engines, number -> new HybridEngine(number, plan, writer));
    balance = new Balance(plan.engines());
  }

  /** One request from the query to the last store. */
  void serve(double seconds, int[] chain) {
    int[] depths = depths(chain);
    interleaved = interleaved.plus(Sums.of(depths));
    chains.add(chain);
    int engine = balance.choose(seconds, chain.length, depths);
    writer.query(engine, chain);
    engines[engine].compute(chain, depths[engine]);
    if (chains.size() % 2 == 0) {
      engines[engine].dropOutside(chain);
    }
  }

  /** What an exact index answers to all queries so far. */
  ExactAnswers answers() {
    Sums atEnd = Sums.NONE;
    for (int[] chain : chains) {
      atEnd = atEnd.plus(Sums.of(depths(chain)));
    }
    long held = Arrays.stream(engines).mapToLong(HybridEngine::held).sum();
    return new ExactAnswers(interleaved, atEnd, held);
  }

  private int[] depths(int[] chain) {
    return Arrays.stream(engines).mapToInt(engine -> engine.depth(chain)).toArray();
  }
}
