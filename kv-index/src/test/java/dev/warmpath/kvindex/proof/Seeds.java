package dev.warmpath.kvindex.proof;

import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.proof.Comparison.Difference;
import dev.warmpath.kvindex.workload.Script;
import dev.warmpath.kvindex.workload.Step;
import dev.warmpath.kvindex.workload.Workload;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.function.UnaryOperator;

/**
 * Compares an index with the model over many seeds, and boils a difference down to a few steps.
 *
 * <p>{@code -Dwarmpath.seeds=10000} asks more than the normal run, {@code -Dwarmpath.firstSeed}
 * begins elsewhere.
 *
 * <p>Immutable.
 */
public final class Seeds<I extends KvIndex> {

  private static final int MAX_TRIES = 4_000;

  private final Comparison<I> comparison;

  /**
   * @param newIndex makes an empty index for so many orphans an engine
   * @param invariants checked after each step
   * @param reload writes the index to a snapshot and reads it back
   */
  public Seeds(IntFunction<I> newIndex, Consumer<I> invariants, UnaryOperator<I> reload) {
    this(new Comparison<>(newIndex, invariants, reload, true));
  }

  Seeds(Comparison<I> comparison) {
    this.comparison = comparison;
  }

  /** The first difference in the seeds that were asked for, as a short script and its result. */
  public Optional<String> firstDifference() {
    long first = Long.getLong("warmpath.firstSeed", 0);
    long count = Long.getLong("warmpath.seeds", 300);
    for (long seed = first; seed < first + count; seed++) {
      Script script = Workload.of(seed);
      Optional<Difference> difference = comparison.sampled(script);
      if (difference.isPresent()) {
        return Optional.of("seed " + seed + ": " + explain(script, difference.get()));
      }
    }
    return Optional.empty();
  }

  private String explain(Script script, Difference difference) {
    Script smallest = smallest(script, difference);
    String what = comparison.atTheEnd(smallest).orElse(difference).what();
    return what + " after\n" + smallest;
  }

  Script smallest(Script script, Difference difference) {
    List<Step> failing = script.steps().subList(0, difference.steps());
    return script.with(
        Shrinker.shrink(
            failing, steps -> comparison.atTheEnd(script.with(steps)).isPresent(), MAX_TRIES));
  }
}
