package dev.warmpath.simulator.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class DemoTest {

  private static final Duration IDLE = Duration.ofSeconds(60);

  @Test
  void warmServesMoreFromCacheThanTakingTurns() throws Exception {
    StringBuilder shown = new StringBuilder();
    try (Demo demo = new Demo(new DemoPlan(90, 2, 20), IDLE, true, shown::append)) {
      DemoReport report = demo.run();

      assertThat(report.errors()).isZero();
      assertThat(report.of("warm").hitRate()).isGreaterThan(report.of("round-robin").hitRate());
      assertThat(report.prediction().compared()).isGreaterThan(150);
      assertThat(demo.invitation()).contains("/admin/fleet", "/metrics");
      assertThat(demo.invitation()).contains("/admin/ui   (round-robin)", "/admin/ui   (warm)");
    }
    assertThat(shown).contains("round-robin", "watch warm at http", "90/90");
  }
}
