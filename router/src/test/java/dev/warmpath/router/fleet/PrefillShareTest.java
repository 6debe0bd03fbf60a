package dev.warmpath.router.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

/** For what share of the last time an engine computed prompts. */
class PrefillShareTest {

  @Test
  void promptsThatWereNeverComputedDoNotCount() {
    EngineLoad load = new EngineLoad();
    EngineLoad.Share left = new EngineLoad.Share(9_000, 8_000_000, 9_000, true, true);
    EngineLoad.Share computed = new EngineLoad.Share(1_000, 4_000_000, 1_000, true, true);
    load.add(left, 0);
    load.add(computed, 0);
    assertThat(load.prefillShare(0)).isEqualTo(0.6, within(1e-9));
    load.remove(left, 0);
    assertThat(load.prefillShare(0)).isEqualTo(0.2, within(1e-9));
    load.prefilled(computed, 0);
    load.remove(computed, 0);
    assertThat(load.prefillShare(0)).isEqualTo(0.2, within(1e-9));
    assertThat(load.prefillShare(20_000_000_000L)).isEqualTo(0.2 / Math.E, within(1e-9));
  }

  @Test
  void whatNeverComputedHasNoneWhateverTheClockSays() {
    assertThat(new EngineLoad().prefillShare(Long.MIN_VALUE)).isZero();
  }
}
