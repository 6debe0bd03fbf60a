package dev.warmpath.router.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.config.ConfigException;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.console.RecentDecisions.Query;
import dev.warmpath.router.logs.Decision;
import java.time.Clock;
import java.util.List;
import org.junit.jupiter.api.Test;

class RecentDecisionsTest {

  private static final int MEGABYTE = 1 << 20;

  @Test
  void theOldestGiveWay() throws ConfigException {
    RecentDecisions recent = recent(3, MEGABYTE);
    for (int i = 0; i < 5; i++) {
      add(recent, "m");
    }
    assertThat(ids(recent.newest(all(10)))).containsExactly(5L, 4L, 3L);
    assertThat(ids(recent.newest(all(2)))).containsExactly(5L, 4L);
    assertThat(ids(recent.newest(new Query(10, 4, each -> true)))).containsExactly(3L);
    assertThat(recent.find(2)).isEmpty();
    assertThat(recent.find(3)).isPresent();
    assertThat(recent.lastId()).isEqualTo(5);
  }

  @Test
  void bytesAreBounded() throws ConfigException {
    RecentDecisions recent = recent(1_000, 5 * MEGABYTE);
    String large = "m".repeat(MEGABYTE);
    for (int i = 0; i < 10; i++) {
      add(recent, large);
      assertThat(recent.fill().bytes()).isLessThanOrEqualTo(5 * MEGABYTE);
    }
    assertThat(recent.fill().kept()).isEqualTo(2);
    add(recent, "m".repeat(10 * MEGABYTE));
    assertThat(recent.fill()).isEqualTo(new RecentDecisions.Fill(0, 0));
    add(recent, "m");
    assertThat(recent.fill().kept()).isEqualTo(1);
  }

  @Test
  void noneAreKeptWhereNoneAreWanted() throws ConfigException {
    RecentDecisions recent = recent(0, MEGABYTE);
    add(recent, "m");
    assertThat(recent.fill().kept()).isZero();
    assertThat(recent.lastId()).isZero();
  }

  @Test
  void newOnesComeInOrderAndOfManyTheNewest() throws ConfigException {
    RecentDecisions recent = recent(100, MEGABYTE);
    for (int i = 0; i < 8; i++) {
      add(recent, "m");
    }
    assertThat(ids(recent.since(3, 50))).containsExactly(4L, 5L, 6L, 7L, 8L);
    assertThat(ids(recent.since(3, 2))).containsExactly(7L, 8L);
    assertThat(recent.since(8, 2)).isEmpty();
  }

  private static RecentDecisions recent(int most, long bytes) throws ConfigException {
    RouterConfig config = ConfigTree.empty().set("admin.decisions-kept", most, "test").config();
    return new RecentDecisions(config.admin(), bytes, Clock.systemUTC());
  }

  private static void add(RecentDecisions recent, String session) {
    recent.add(
        Decision.declined(
            new Decision.Request("id", "POST", "/v1/completions", null, "m", session), 429, "code"),
        null);
  }

  private static Query all(int most) {
    return new Query(most, Long.MAX_VALUE, each -> true);
  }

  private static List<Long> ids(List<KeptDecision> decisions) {
    return decisions.stream().map(KeptDecision::id).toList();
  }
}
