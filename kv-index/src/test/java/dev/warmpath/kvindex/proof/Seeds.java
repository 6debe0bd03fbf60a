package dev.warmpath.kvindex.proof;

import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.model.ReferenceModel;
import dev.warmpath.kvindex.proof.Comparison.Demand;
import dev.warmpath.kvindex.proof.Comparison.Difference;
import dev.warmpath.kvindex.workload.Script;
import dev.warmpath.kvindex.workload.Step;
import dev.warmpath.kvindex.workload.Workload;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.function.LongFunction;
import java.util.function.UnaryOperator;
import java.util.stream.LongStream;

/**
 * Compares an index with one that is right over many seeds, and boils a difference down to a few
 * steps.
 *
 * <p>{@code -Dwarmpath.seeds=10000} asks more than the normal run, {@code -Dwarmpath.firstSeed}
 * begins elsewhere.
 *
 * <p>Immutable.
 */
public final class Seeds<I extends KvIndex> {

  private static final int MAX_STEPS = 1_000_000;
  private static final long SEEDS = Long.getLong("warmpath.seeds", 300);

  private final IntFunction<I> newIndex;
  private final Consumer<I> invariants;
  private final UnaryOperator<I> reload;

  /**
   * @param newIndex makes an empty index for so many orphans an engine
   * @param invariants checked after each step, by several threads for an index each
   * @param reload writes the index to a snapshot and reads it back
   */
  public Seeds(IntFunction<I> newIndex, Consumer<I> invariants, UnaryOperator<I> reload) {
    this.newIndex = newIndex;
    this.invariants = invariants;
    this.reload = reload;
  }

  /** The first difference from the model, as a short script and its result. */
  public Optional<String> differenceFromModel() {
    return first(
        comparison(ReferenceModel::new, Demand.ANSWERS_AND_STATISTICS), SEEDS, Workload::of);
  }

  /** The first difference from the plain index, with many engines, prompts or branches. */
  public Optional<String> differenceInLongScripts() {
    return first(
        comparison(ReferenceModel::new, Demand.ANSWERS_AND_STATISTICS),
        SEEDS / 100,
        Workload::large);
  }

  /**
   * The first credit that the model does not give, for an index that has so little room that it
   * must forget.
   */
  public Optional<String> overcredit() {
    return first(
        comparison(ReferenceModel::new, Demand.NO_OVERCREDIT), SEEDS / 30, Workload::honest);
  }

  private Comparison<I> comparison(IntFunction<? extends KvIndex> newTruth, Demand demand) {
    return new Comparison<>(newIndex, newTruth, invariants, reload, demand);
  }

  /** Seeds do not know of each other, so all processors take some. */
  private static Optional<String> first(
      Comparison<?> comparison, long count, LongFunction<Script> scripts) {
    long first = Long.getLong("warmpath.firstSeed", 0);
    return LongStream.range(first, first + count)
        .parallel()
        .mapToObj(seed -> difference(comparison, seed, scripts.apply(seed)))
        .flatMap(Optional::stream)
        .findFirst();
  }

  private static Optional<String> difference(Comparison<?> comparison, long seed, Script script) {
    return comparison
        .onTheWay(script)
        .map(difference -> {
          Script smallest = smallest(comparison, script, difference);
          String what = comparison.atTheEnd(smallest).orElse(difference).what();
          return "seed " + seed + ": " + what + " after\n" + smallest;
        });
  }

  /** The smallest script found that ends in a difference. */
  static Script smallest(Comparison<?> comparison, Script script, Difference difference) {
    List<Step> failing = script.steps().subList(0, difference.steps());
    return script.with(
        Shrinker.shrink(
            failing, steps -> comparison.atTheEnd(script.with(steps)).isPresent(), MAX_STEPS));
  }
}
