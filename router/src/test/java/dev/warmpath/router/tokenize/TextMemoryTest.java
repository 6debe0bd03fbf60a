package dev.warmpath.router.tokenize;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TextMemoryTest {

  @Test
  void tokenizersShareWhatBodiesLeave() {
    assertThat(TextMemory.of(64, 3)).isEqualTo(new TextMemory(16 << 20, 16 << 20));
    assertThat(TextMemory.of(64, 0).tokenizerBytes()).isEqualTo(48 << 20);
  }

  @Test
  void withoutAFigureItIsATenthOfTheHeap() {
    TextMemory memory = TextMemory.of(0, 2);
    long all = memory.bodyBytes() + 2 * memory.tokenizerBytes();
    assertThat(all).isBetween(heap() / 10 - 2, heap() / 10);
  }

  private static long heap() {
    return Runtime.getRuntime().maxMemory();
  }
}
