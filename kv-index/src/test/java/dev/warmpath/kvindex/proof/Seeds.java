package dev.warmpath.kvindex.proof;

import dev.warmpath.kvindex.KvIndex;
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
    this(new Comparison<>(newIndex, invariants, reload, Demand.ANSWERS_AND_STATISTICS));
  }

  /**
   * An index that has so little room that it must forget: it may credit less, but nobody with what
   * he does not hold.
   *
   * @param invariants checked after each step
   */
  public static <I extends KvIndex> Seeds<I> withoutRoom(
      IntFunction<I> newIndex, Consumer<I> invariants) {
    return new Seeds<>(
        new Comparison<>(newIndex, invariants, UnaryOperator.identity(), Demand.NO_OVERCREDIT));
  }

  Seeds(Comparison<I> comparison) {
    this.comparison = comparison;
  }

  /** The first difference in the seeds that were asked for, as a short script and its result. */
  public Optional<String> firstDifference() {
    return firstDifference(Long.getLong("warmpath.seeds", 300), Workload::of);
  }

  /** The first difference when many blocks of many prompts are stored, all of them honestly. */
  public Optional<String> firstDifferenceInBulk() {
    return firstDifference(Long.getLong("warmpath.seeds", 300) / 30, Workload::bulk);
  }

  private Optional<String> firstDifference(long count, LongFunction<Script> scripts) {
    long first = Long.getLong("warmpath.firstSeed", 0);
    for (long seed = first; seed < first + count; seed++) {
      Script script = scripts.apply(seed);
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
