package dev.warmpath.kvindex.hammer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.runs.RunKvIndex;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The hammer itself: it notices indexes that show readers what never was. */
class HammerTest {

  @ParameterizedTest
  @EnumSource
  void noticesMutant(HammerMutant mutant) throws InterruptedException, ExecutionException {
    boolean oneInstant = mutant == HammerMutant.ANSWERS_FOR_ENGINES_AT_DIFFERENT_TIMES;
    Hammer<KvIndex> hammer =
        new Hammer<>(
            orphans -> mutant.of(new RunKvIndex(IndexLimits.unbounded(orphans))),
            index -> 0,
            2,
            100_000,
            new Strictness(oneInstant, true));
    assertThat(hammer.judge(Hammering.script(1)).wrongAnswer()).isPresent();
  }
}
