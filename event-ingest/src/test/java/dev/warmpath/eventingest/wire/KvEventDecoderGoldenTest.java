package dev.warmpath.eventingest.wire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.wire.EventRow.GroupSpec;
import dev.warmpath.eventingest.wire.KvEvent.AllBlocksCleared;
import dev.warmpath.eventingest.wire.KvEvent.BlockRemoved;
import dev.warmpath.eventingest.wire.KvEvent.BlockStored;
import dev.warmpath.kvindex.block.ExtraKey;
import java.util.List;
import org.junit.jupiter.api.Test;

class KvEventDecoderGoldenTest {

  private final KvEventDecoder decoder = new KvEventDecoder();

  @Test
  void readsEveryFieldOfTheArrayForm() throws WireException {
    assertGolden(decoder.decode(GoldenPayloads.ARRAY));
  }

  @Test
  void readsEveryFieldOfTheMapForm() throws WireException {
    assertGolden(decoder.decode(GoldenPayloads.MAP));
  }

  private static void assertGolden(KvEventBatch batch) {
    assertThat(batch.timestampSeconds()).isEqualTo(1.5);
    assertThat(batch.dataParallelRank()).isEqualTo(-1);
    assertThat(batch.skipped()).isEmpty();
    assertThat(batch.events()).hasSize(3);
    assertStored((BlockStored) batch.events().get(0));
    BlockRemoved removed = (BlockRemoved) batch.events().get(1);
    assertThat(removed.blockHashes()).containsExactly(5);
    assertThat(removed.place()).isEqualTo(BlockPlace.GPU);
    assertThat(batch.events().get(2)).isEqualTo(new AllBlocksCleared());
  }

  private static void assertStored(BlockStored stored) {
    assertThat(stored.blockHashes()).containsExactly(0x11111111L, -1L);
    assertThat(stored.parentBlockHash()).isNull();
    assertThat(stored.tokens().ids()).containsExactly(1, 200, 70000, 4);
    assertThat(stored.tokens().blockSizeTokens()).isEqualTo(2);
    assertThat(stored.tokens().lookaheadTokens()).isZero();
    assertThat(stored.place()).isEqualTo(BlockPlace.GPU);
    assertThat(stored.spec()).isEqualTo(GroupSpec.UNSAID);
    assertThat(stored.keys().loraName()).isNull();
    assertThat(stored.keys().cacheSalt()).isNull();
    assertThat(stored.keys().perBlock())
        .isEqualTo(List.of(List.of(), List.of(new ExtraKey.CacheSalt("salt"))));
    assertThat(stored.naming()).isEqualTo(Naming.DENSE);
  }
}
