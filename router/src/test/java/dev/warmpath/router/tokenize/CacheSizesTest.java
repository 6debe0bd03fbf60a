package dev.warmpath.router.tokenize;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class CacheSizesTest {

  @Test
  void tokenizersShareWhatBodiesLeave() {
    assertThat(LoadedTokenizers.CacheSizes.of(64 << 20, 3))
        .isEqualTo(new LoadedTokenizers.CacheSizes(16 << 20, 16 << 20));
    assertThat(LoadedTokenizers.CacheSizes.of(64 << 20, 0).tokenizerBytes()).isEqualTo(48 << 20);
  }
}
