package dev.warmpath.kvindex.runs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.model.Differential;
import dev.warmpath.kvindex.model.Operation;
import dev.warmpath.kvindex.model.Operations;
import java.util.List;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** The run index against the model, on the tree of few blocks. */
class RunKvIndexDifferentialTest {

  private final Differential<RunKvIndex> differential =
      new Differential<>(
          () -> new RunKvIndex(IndexLimits.unbounded(Differential.MAX_ORPHANS), 1),
          Invariants::check);

  @Property(edgeCases = EdgeCasesMode.NONE)
  void agreesWithTheModel(@ForAll("sequences") List<Operation> operations) {
    assertThat(differential.firstDifference(operations)).isEmpty();
  }

  @Provide
  Arbitrary<List<Operation>> sequences() {
    return Operations.sequences(80);
  }
}
