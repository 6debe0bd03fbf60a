package dev.warmpath.lab.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.lab.gateway.LoadClient.Schedule;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class OpenLoopTest {

  private static final Schedule SCHEDULE = new Schedule(1_000, 1e9 / 100, 6);

  private final List<Long> started = new ArrayList<>();
  private long now;

  @Test
  void startsEachRequestWhenItIsDue() throws Exception {
    new LoadClient.OpenLoop(() -> now, due -> now = due).run(SCHEDULE, number -> started.add(now));
    assertThat(started).containsExactly(1_000L, 1_100L, 1_200L, 1_300L, 1_400L, 1_500L);
  }

  @Test
  void keepsTheInstantsOfTheOthersWhenOneIsLate() throws Exception {
    new LoadClient.OpenLoop(() -> now, due -> now = due)
        .run(
            SCHEDULE,
            number -> {
              started.add(now);
              now += number == 1 ? 250 : 0; // a stall
            });
    assertThat(started).containsExactly(1_000L, 1_100L, 1_350L, 1_350L, 1_400L, 1_500L);
  }

  @Test
  void waitsOnWhenItWakesEarly() throws Exception {
    new LoadClient.OpenLoop(() -> now, due -> now += 30).run(SCHEDULE, number -> started.add(now));
    assertThat(started).containsExactly(1_020L, 1_110L, 1_200L, 1_320L, 1_410L, 1_500L);
  }

  @Test
  void instantsDoNotDrift() {
    Schedule schedule = new Schedule(-5, 300, 1_000_000);
    assertThat(schedule.dueNanos(300)).isEqualTo(1_000_000_000 - 5);
    assertThat(schedule.dueNanos(1_000_000)).isEqualTo(3_333_333_333_333L - 5);
  }

  @Test
  void refusesARateOfNothing() {
    assertThatThrownBy(() -> new Schedule(0, 0, 1)).hasMessage("perSecond=0.0 count=1");
    assertThatThrownBy(() -> new Schedule(0, Double.NaN, 1)).hasMessage("perSecond=NaN count=1");
  }
}
