package dev.warmpath.kvindex;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.kvindex.CacheGroup.Kind;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The value types of the contract. */
class ContractTest {

  @Test
  void windowsBelongToSlidingWindowGroups() {
    assertThatThrownBy(() -> new CacheGroup(0, Kind.SLIDING_WINDOW, 4, 0))
        .hasMessageContaining("slidingWindowTokens=0");
    assertThatThrownBy(() -> new CacheGroup(0, Kind.FULL_ATTENTION, 4, 9))
        .hasMessageContaining("slidingWindowTokens=9");
    assertThatThrownBy(() -> new CacheGroup(-1, Kind.MAMBA, 4, 0)).hasMessage("index=-1");
    assertThatThrownBy(() -> new CacheGroup(0, Kind.MAMBA, 0, 0)).hasMessage("blockSizeTokens=0");
  }

  @Test
  void layoutsListEachGroupOnceInOrder() {
    CacheGroup zero = new CacheGroup(0, Kind.FULL_ATTENTION, 4, 0);
    CacheGroup one = new CacheGroup(1, Kind.MAMBA, 4, 0);
    assertThatThrownBy(() -> new CacheLayout(List.of(one, zero), 1, 0))
        .hasMessageContaining("groups=");
    assertThatThrownBy(() -> new CacheLayout(List.of(zero, zero), 1, 0))
        .hasMessageContaining("groups=");
    assertThatThrownBy(() -> new CacheLayout(List.of(zero), -1, 0)).hasMessage("withheldTokens=-1");
    assertThatThrownBy(() -> new CacheLayout(List.of(zero), 1, -1)).hasMessage("droppedBlocks=-1");
  }

  @Test
  void matchesAreZeroUntilSet() {
    PrefixMatches matches = new PrefixMatches();
    matches.begin(40);
    matches.set(39, StorageTier.CPU, 7);
    matches.setHost(39, 5);
    assertThat(matches.tokens(39, StorageTier.CPU)).isEqualTo(7);
    assertThat(matches.hostTokens(39)).isEqualTo(5);
    matches.begin(40);
    assertThat(matches.tokens(39, StorageTier.CPU)).isZero();
    assertThat(matches.hostTokens(39)).isZero();
    assertThat(matches.tokens(40)).isZero();
  }

  @Test
  void storedBlocksAreReused() {
    StoredBlocks blocks = new StoredBlocks().atRoot(StorageTier.CPU, 3, 42);
    for (int i = 0; i < 100; i++) {
      blocks.add(i, -i);
    }
    assertThat(blocks.count()).isEqualTo(100);
    assertThat(blocks.localHash(99)).isEqualTo(-99);
    blocks.behind(StorageTier.GPU, 1, 5);
    assertThat(blocks.count()).isZero();
    assertThat(blocks.atRoot()).isFalse();
    assertThat(blocks.parent()).isEqualTo(5);
    assertThat(blocks.unnamed(StorageTier.GPU, 1).named()).isFalse();
  }
}
