package dev.warmpath.kvindex.plain;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.kvindex.model.Differential;
import dev.warmpath.kvindex.model.Operation;
import dev.warmpath.kvindex.model.Operations;
import java.util.List;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/**
 * The plain index against the model; {@code -Djqwik.tries.default=10000} asks more than the normal
 * run.
 */
class PlainKvIndexDifferentialTest {

  private final Differential<PlainKvIndex> differential =
      new Differential<>(
          () -> new PlainKvIndex(Differential.MAX_ORPHANS), PlainKvIndex::checkInvariants);

  @Property(edgeCases = EdgeCasesMode.NONE)
  void agreesWithTheModel(@ForAll("sequences") List<Operation> operations) {
    assertThat(differential.firstDifference(operations)).isEmpty();
  }

  @Provide
  Arbitrary<List<Operation>> sequences() {
    return Operations.sequences(80);
  }
}
