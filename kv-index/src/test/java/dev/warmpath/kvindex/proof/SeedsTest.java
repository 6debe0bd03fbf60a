package dev.warmpath.kvindex.proof;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.model.ReferenceModel;
import dev.warmpath.kvindex.proof.Comparison.Demand;
import dev.warmpath.kvindex.proof.Comparison.Difference;
import dev.warmpath.kvindex.runs.RunKvIndex;
import dev.warmpath.kvindex.workload.Script;
import dev.warmpath.kvindex.workload.Step.Arrive;
import dev.warmpath.kvindex.workload.Workload;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The seeds themselves: they notice every mutant, and boil the reason down to a few steps. */
class SeedsTest {

  private static final int MAX_SEEDS = 500;
  private static final int MAX_MINIMAL_STEPS = 6;

  @ParameterizedTest
  @EnumSource
  void noticesMutantByItsAnswersAndShrinksTheReason(SeedMutant mutant) {
    UnaryOperator<Memory> reload =
        index -> {
          index.reload();
          return index;
        };
    Comparison<Memory> answers =
        new Comparison<>(
            maxOrphans -> mutant.of(new RunKvIndex(IndexLimits.unbounded(maxOrphans))),
            ReferenceModel::new,
            index -> {},
            reload,
            Demand.ANSWERS);
    for (int seed = 0; seed < MAX_SEEDS; seed++) {
      Script script = Workload.of(seed);
      Optional<Difference> difference = answers.onTheWay(script);
      if (difference.isPresent()) {
        Script smallest = Seeds.smallest(answers, script, difference.get());
        assertThat(answers.atTheEnd(smallest)).isPresent();
        assertThat(smallest.steps().stream().filter(step -> !(step instanceof Arrive)))
            .hasSizeLessThanOrEqualTo(MAX_MINIMAL_STEPS);
        return;
      }
    }
    throw new AssertionError(mutant + " got away");
  }
}
