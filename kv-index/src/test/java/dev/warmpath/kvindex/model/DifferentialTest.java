package dev.warmpath.kvindex.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.kvindex.KvIndex;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.GenerationMode;
import net.jqwik.api.Property;
import net.jqwik.api.RandomGenerator;
import net.jqwik.api.Shrinkable;

/**
 * The comparison itself: it notices every mutant, and boils the reason down to a few operations.
 */
class DifferentialTest {

  private static final int MAX_MINIMAL_OPERATIONS = 6;

  @Property(generation = GenerationMode.EXHAUSTIVE)
  void noticesMutantAndShrinksTheReason(@ForAll Mutant mutant) {
    Differential<KvIndex> differential =
        new Differential<>(
            () -> new TrueStats(mutant.of(new ReferenceModel(Differential.MAX_ORPHANS))),
            index -> {});
    RandomGenerator<List<Operation>> sequences = Operations.sequences(15).generator(1000);
    Shrinkable<List<Operation>> caught =
        IntStream.range(0, 10_000)
            .mapToObj(seed -> sequences.next(new Random(seed)))
            .filter(sequence -> differs(differential, sequence))
            .findFirst()
            .orElseThrow(() -> new AssertionError(mutant + " got away"));
    List<Operation> minimal = minimal(differential, caught);
    assertThat(minimal).hasSizeLessThanOrEqualTo(MAX_MINIMAL_OPERATIONS);
  }

  private static List<Operation> minimal(
      Differential<KvIndex> differential, Shrinkable<List<Operation>> caught) {
    Shrinkable<List<Operation>> smallest = caught;
    Optional<Shrinkable<List<Operation>>> smaller = Optional.of(caught);
    while (smaller.isPresent()) {
      smallest = smaller.get();
      smaller = smallest.shrink().filter(one -> differs(differential, one)).findFirst();
    }
    return smallest.value();
  }

  private static boolean differs(
      Differential<KvIndex> differential, Shrinkable<List<Operation>> operations) {
    return differential.firstDifference(operations.value()).isPresent();
  }
}
