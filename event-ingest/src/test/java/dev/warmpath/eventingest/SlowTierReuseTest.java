package dev.warmpath.eventingest;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SlowTierReuseTest {

  @Test
  void anyBlockCountsByItself() {
    assertThat(SlowTierReuse.ALL.reused(16, 17)).isEqualTo(17);
    assertThat(SlowTierReuse.ALL.reused(16, 16)).isEqualTo(16);
  }

  @Test
  void tooFewAreLeftAlone() {
    assertThat(new SlowTierReuse(10, 1).reused(16, 25)).isEqualTo(16);
    assertThat(new SlowTierReuse(10, 1).reused(16, 26)).isEqualTo(26);
  }

  @Test
  void onlyWholeChunksFromThePromptsBeginCount() {
    SlowTierReuse chunks = new SlowTierReuse(0, 64);
    assertThat(chunks.reused(16, 63)).isEqualTo(16);
    assertThat(chunks.reused(16, 64)).isEqualTo(64);
    assertThat(chunks.reused(80, 127)).as("the GPU's own blocks stand alone").isEqualTo(80);
    assertThat(chunks.reused(80, 200)).isEqualTo(192);
  }

  @Test
  void chunksThatNobodyKnowsCountForNothing() {
    assertThat(new SlowTierReuse(0, 0).reused(16, 640)).isEqualTo(16);
  }
}
