package dev.warmpath.router.tokenize;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class CacheSizesTest {

  @Test
  void tokenizersShareWhatBodiesLeave() {
    assertThat(CacheSizes.of(64, 3)).isEqualTo(new CacheSizes(16 << 20, 16 << 20));
    assertThat(CacheSizes.of(64, 0).tokenizerBytes()).isEqualTo(48 << 20);
  }

  @Test
  void withoutAFigureItIsATenthOfTheHeap() {
    CacheSizes sizes = CacheSizes.of(0, 2);
    long all = sizes.bodyBytes() + 2 * sizes.tokenizerBytes();
    assertThat(all).isBetween(heap() / 10 - 2, heap() / 10);
  }

  private static long heap() {
    return Runtime.getRuntime().maxMemory();
  }
}
