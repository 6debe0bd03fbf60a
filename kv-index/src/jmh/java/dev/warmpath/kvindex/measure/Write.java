package dev.warmpath.kvindex.measure;

import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.runs.RunKvIndex;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/**
 * What a block costs: stored in events of 64, and removed in events of one.
 *
 * <p>An invocation stores or removes a quarter of a million blocks beside as many that stay; the
 * index that it begins with is made anew outside of the time.
 *
 * <p>Confined to one thread.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class Write {

  private static final int PROMPTS = 1 << 12;
  private static final int BLOCKS = PROMPTS * Prompts.BLOCKS;

  /** An index that holds the first half of all prompts. */
  @State(Scope.Thread)
  public static class HalfFull {

    private Prompts prompts;

    /** Makes the index. */
    @Setup(Level.Invocation)
    public void store() {
      prompts = filled(PROMPTS);
    }
  }

  /** An index that holds all prompts. */
  @State(Scope.Thread)
  public static class Full {

    private Prompts prompts;

    /** Makes the index. */
    @Setup(Level.Invocation)
    public void store() {
      prompts = filled(2 * PROMPTS);
    }
  }

  @Benchmark
  @OperationsPerInvocation(BLOCKS)
  public void store64(HalfFull state) {
    for (int prompt = PROMPTS; prompt < 2 * PROMPTS; prompt++) {
      state.prompts.store(prompt);
    }
  }

  @Benchmark
  @OperationsPerInvocation(BLOCKS)
  public void removeOneByOne(Full state) {
    for (int prompt = PROMPTS; prompt < 2 * PROMPTS; prompt++) {
      state.prompts.removeOneByOne(prompt);
    }
  }

  private static Prompts filled(int prompts) {
    Prompts filled = new Prompts(new RunKvIndex(IndexLimits.unbounded(1024)));
    for (int prompt = 0; prompt < prompts; prompt++) {
      filled.store(prompt);
    }
    return filled;
  }
}
