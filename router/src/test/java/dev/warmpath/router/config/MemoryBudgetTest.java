package dev.warmpath.router.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MemoryBudgetTest {

  private static final long MB = 1 << 20;

  @ParameterizedTest
  @ValueSource(ints = {96, 128, 247, 256, 512, 1024, 4096, 65_536})
  void defaultsFitEveryHeap(int heapMb) throws ConfigException {
    MemoryBudget budget = MemoryBudget.of(ConfigTree.empty().config(), heapMb * MB);
    assertThatCode(budget::check).doesNotThrowAnyException();
    assertThat(sum(budget)).isBetween(heapMb * MB / 2, heapMb * MB);
  }

  @Test
  void defaultsAreSharesOfTheHeap() throws ConfigException {
    MemoryBudget small = MemoryBudget.of(ConfigTree.empty().config(), 512 * MB);
    assertThat(small.indexBytes()).isEqualTo(192 * MB);
    assertThat(small.bodyBytes()).isBetween(85 * MB, 86 * MB);
    assertThat(small.treeBytes()).isEqualTo(64 * MB);
    assertThat(small.cacheBytes()).isBetween(51 * MB, 52 * MB);
    assertThat(small.ringBytes()).isEqualTo(16 * MB);
    assertThat(small.decisionBytes()).isEqualTo(8 * MB);
    assertThat(small.bufferedBytes()).isEqualTo(8 * MB);
    MemoryBudget large = MemoryBudget.of(ConfigTree.empty().config(), 64L << 30);
    assertThat(large.ringBytes()).isEqualTo(256 * MB);
    assertThat(large.decisionBytes()).isEqualTo(32 * MB);
    assertThat(large.bufferedBytes()).isEqualTo(64 * MB);
  }

  @Test
  void aFleetThatIsKnownBoundsTheCachedTexts() throws ConfigException {
    String replicas =
        """
        replicas:
          - {name: a, url: 'http://127.0.0.1:1'}
          - {name: b, url: 'http://127.0.0.1:2', ranks: 3}
        """;
    ConfigTree two = ConfigTree.parse(replicas, "test");
    assertThat(MemoryBudget.of(two.config(), 6144 * MB).cacheBytes()).isEqualTo(128 * MB);
    assertThat(MemoryBudget.of(two.config(), 512 * MB).cacheBytes()).isLessThan(52 * MB);
    ConfigTree set = two.set("tokenizing.cache-mb", 500, "test");
    assertThat(MemoryBudget.of(set.config(), 6144 * MB).cacheBytes()).isEqualTo(500 * MB);
  }

  @Test
  void sharesGiveWayToWhatIsConfigured() throws ConfigException {
    ConfigTree tree = ConfigTree.empty().set("index.memory-mb", 320, "test");
    MemoryBudget budget = MemoryBudget.of(tree.config(), 512 * MB);
    assertThatCode(budget::check).doesNotThrowAnyException();
    assertThat(budget.indexBytes()).isEqualTo(320 * MB);
    assertThat(budget.treeBytes()).isLessThan(64 * MB);
    assertThat(sum(budget)).isLessThanOrEqualTo(512 * MB);
  }

  @Test
  void whatDoesNotFitIsNamedWithItsFigures() throws ConfigException {
    ConfigTree tree =
        ConfigTree.empty()
            .set("index.memory-mb", 400, "test")
            .set("limits.bodies-mb", 200, "test")
            .set("capture.dir", "/tmp", "test");
    assertThatThrownBy(MemoryBudget.of(tree.config(), 512 * MB)::check)
        .hasMessageContaining("a heap of 512 MiB is too small")
        .hasMessageContaining("index.memory-mb (400.0 MiB)")
        .hasMessageContaining("limits.bodies-mb (200.0 MiB)")
        .hasMessageContaining("capture.queue-mb (64.0 MiB)")
        .hasMessageContaining("WARMPATH_JAVA_OPTS=-Xmx");
  }

  @Test
  void theHeapThatIsAdvisedIsEnough() throws ConfigException {
    RouterConfig config = ConfigTree.empty().set("index.memory-mb", 4_000, "test").config();
    String advice = "";
    try {
      MemoryBudget.of(config, 512 * MB).check();
    } catch (IllegalArgumentException e) {
      advice = e.getMessage().replaceAll(".*-Xmx(\\d+)m.*", "$1");
    }
    long advised = Long.parseLong(advice) * MB;
    assertThatCode(MemoryBudget.of(config, advised)::check).doesNotThrowAnyException();
    assertThat(advised).isLessThan(7_000 * MB);
  }

  @Test
  void everyPartIsInTheTable() throws ConfigException {
    MemoryBudget budget = MemoryBudget.of(ConfigTree.empty().config(), 512 * MB);
    for (MemoryBudget.Part part : budget.parts()) {
      assertThat(budget.table()).contains(part.name());
    }
    assertThat(budget.table()).contains("512.0 MiB");
  }

  private static long sum(MemoryBudget budget) {
    return budget.parts().stream().mapToLong(MemoryBudget.Part::bytes).sum();
  }
}
