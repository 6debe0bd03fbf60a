package dev.warmpath.kvindex.plain;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.kvindex.proof.Seeds;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** The plain index against the model, with long prompts and fleets. */
class PlainKvIndexSeedsTest {

  @Test
  void agreesWithTheModelForEverySeed() {
    Seeds<PlainKvIndex> seeds =
        new Seeds<>(PlainKvIndex::new, PlainKvIndex::checkInvariants, UnaryOperator.identity());
    assertThat(seeds.differenceFromModel()).isEmpty();
  }
}
