package dev.warmpath.kvindex.measure;

import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.runs.RunKvIndex;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.block.BlockChain;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/**
 * A query for 72 blocks that one engine holds: the same one over and over, or another one each time,
 * so that nothing is in the caches.
 *
 * <p>Confined to one thread.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class Match {

  /** A prime, so that each prompt comes up once a lap, far from the one before. */
  private static final int STRIDE = 7919;

  private static final int PROMPTS = 1 << 14;

  private final PrefixMatches matches = new PrefixMatches();
  private final BlockChain[] chains = new BlockChain[PROMPTS];
  private KvIndex measured;
  private int next;

  /** Stores a million blocks. */
  @Setup
  public void store() {
    measured = new RunKvIndex(IndexLimits.unbounded(1024));
    Prompts prompts = new Prompts(measured);
    for (int prompt = 0; prompt < PROMPTS; prompt++) {
      prompts.store(prompt);
      chains[prompt] = Prompts.chain(prompt);
      measured.match(chains[prompt], matches);
    }
  }

  @Benchmark
  public int warm() {
    measured.match(chains[0], matches);
    return matches.tokens(0);
  }

  @Benchmark
  public int cold() {
    next = next + STRIDE & PROMPTS - 1;
    measured.match(chains[next], matches);
    return matches.tokens(0);
  }
}
