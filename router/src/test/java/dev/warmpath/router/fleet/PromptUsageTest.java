package dev.warmpath.router.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class PromptUsageTest {

  private static final long SECOND = 1_000_000_000;

  @Test
  void promptsOfTheLastMinutesTakeTheirShare() {
    PromptUsage usage = everySecond(PromptUsage.NONE, 250, 0, 600);
    assertThat(usage.share(600 * SECOND)).isEqualTo(0.25, within(0.01));
    PromptUsage more = everySecond(usage, 750, 600, 900);
    assertThat(more.share(900 * SECOND)).isBetween(0.5, 0.65);
    assertThat(more.share(5_000 * SECOND)).isLessThan(0.001);
  }

  @Test
  void theFirstPromptIsNoFullLoad() {
    PromptUsage first = PromptUsage.NONE.with(3_000, SECOND);
    assertThat(first.share(SECOND)).isEqualTo(0.1, within(1e-9));
  }

  @Test
  void whatIsGivenBackLeavesWhatTheOthersTake() {
    PromptUsage others = everySecond(PromptUsage.NONE, 250, 0, 600);
    PromptUsage all = others.with(9_000, 600 * SECOND);
    PromptUsage later = everySecond(all, 250, 601, 700).without(9_000, 600 * SECOND);
    PromptUsage without = everySecond(others.with(0, 600 * SECOND), 250, 601, 700);
    assertThat(later.share(700 * SECOND)).isEqualTo(without.share(700 * SECOND), within(1e-9));
    assertThat(later.without(1e9, 700 * SECOND).share(700 * SECOND)).isZero();
  }

  @Test
  void aLargerFleetBearsALargerShare() {
    PromptUsage usage = everySecond(PromptUsage.NONE, 850, 0, 3_600);
    assertThat(headroom(usage, 1)).isEqualTo(1 - 0.85 / 0.57, within(0.02));
    assertThat(headroom(usage, 4)).isEqualTo(1 - 0.85 / 0.785, within(0.02));
    assertThat(headroom(usage, 16)).isEqualTo(1 - 0.85 / 0.8925, within(0.02));
  }

  @Test
  void whoTakesNoMoreLeavesItsLoadToOthers() {
    PromptUsage usage = everySecond(PromptUsage.NONE, 300, 0, 3_600);
    double four = headroom(Collections.nCopies(4, usage), 4);
    double two = headroom(Collections.nCopies(4, usage), 2);
    assertThat(four).isPositive();
    assertThat(1 - two).isGreaterThan(2 * (1 - four));
  }

  @Test
  void nothingIsSaidOfNothing() {
    assertThat(headroom(List.of(), 4)).isNaN();
    assertThat(headroom(List.of(PromptUsage.NONE, PromptUsage.NONE), 2)).isNaN();
    assertThat(headroom(List.of(PromptUsage.NONE.with(5, 0)), 0)).isNaN();
    PromptUsage old = PromptUsage.NONE.with(5, -3_600 * SECOND);
    assertThat(headroom(List.of(old, PromptUsage.NONE), 2)).isEqualTo(1, within(1e-6));
  }

  private static double headroom(PromptUsage each, int engines) {
    return headroom(Collections.nCopies(engines, each), engines);
  }

  private static double headroom(List<PromptUsage> usages, int engines) {
    return PromptUsage.kneeHeadroom(usages, engines, 3_600 * SECOND);
  }

  private static PromptUsage everySecond(PromptUsage from, double millis, int begin, int end) {
    PromptUsage usage = from;
    for (int second = begin; second < end; second++) {
      usage = usage.with(millis, second * SECOND);
    }
    return usage;
  }
}
