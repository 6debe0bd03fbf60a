package dev.warmpath.simulator.live;

import static dev.warmpath.simulator.engine.TestEngines.tokens;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.wire.ColumnDecoder;
import dev.warmpath.eventingest.wire.EventColumns;
import dev.warmpath.eventingest.wire.EventRow;
import dev.warmpath.eventingest.wire.WireException;
import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.CacheGroup.Kind;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.block.ExtraKey;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessageUnpacker;
import org.msgpack.value.ArrayValue;
import org.msgpack.value.Value;

class EventEncoderTest {

  private static final CacheGroup FULL = new CacheGroup(0, Kind.FULL_ATTENTION, 4, 0);
  private static final CacheGroup WINDOW = new CacheGroup(1, Kind.SLIDING_WINDOW, 4, 9);
  private static final BlockHash HIGH = hash(0xff);
  private static final BlockHash LOW = hash(0x01);

  @ParameterizedTest
  @CsvSource({"ARRAY,false", "ARRAY,true", "MAP,false", "MAP,true"})
  void ingestReadsWhatWasWritten(WireForm form, boolean bytesHashes) throws WireException {
    List<List<ExtraKey>> keys =
        List.of(
            List.of(new ExtraKey.Lora("lora1"), new ExtraKey.CacheSalt("tenant")),
            List.of(new ExtraKey.Lora("lora1")));
    List<CacheEvent> events =
        List.of(
            new CacheEvent.Stored(FULL, null, List.of(HIGH, LOW), tokens(7, 8), keys, "lora1"),
            new CacheEvent.Stored(
                WINDOW, HIGH, List.of(LOW), tokens(70_000, 4), List.of(List.of()), null),
            new CacheEvent.Removed(1, HIGH),
            new CacheEvent.Cleared());

    EventColumns batch =
        new ColumnDecoder()
            .decode(new EventEncoder(form, bytesHashes, true).encode(1.5, events, 3));

    assertThat(batch.timestampSeconds()).isEqualTo(1.5);
    assertThat(batch.dataParallelRank()).isEqualTo(3);
    assertThat(batch.skipped()).isZero();
    EventRow first = batch.row(0);
    assertThat(first.kind()).isEqualTo(EventRow.Kind.STORED);
    assertThat(first.engineHashes()).containsExactly(HIGH.low64(), LOW.low64());
    assertThat(first.atRoot()).isTrue();
    assertThat(first.tokenIds()).isEqualTo(tokens(7, 8));
    assertThat(first.extraKeys(0)).isEqualTo(keys.get(0));
    assertThat(first.extraKeys(1)).isEqualTo(keys.get(1));
    assertThat(first.spec().rule()).isEqualTo(Kind.FULL_ATTENTION);
    EventRow second = batch.row(1);
    assertThat(second.parent()).isEqualTo(HIGH.low64());
    assertThat(second.place().groupIdx()).isEqualTo(1);
    assertThat(second.spec().slidingWindowTokens()).isEqualTo(9);
    EventRow removed = batch.row(2);
    assertThat(removed.kind()).isEqualTo(EventRow.Kind.REMOVED);
    assertThat(removed.engineHashes()).containsExactly(HIGH.low64());
    assertThat(removed.place().groupIdx()).isEqualTo(1);
    assertThat(batch.row(3).kind()).isEqualTo(EventRow.Kind.CLEARED);
  }

  @Test
  void mapFormHasTheFieldsOfTheReleaseAndOmitsWhatIsUnset() throws IOException {
    List<CacheEvent> events =
        List.of(
            new CacheEvent.Stored(FULL, null, List.of(LOW), tokens(1, 4), List.of(List.of()), null),
            new CacheEvent.Removed(0, LOW));

    ArrayValue batch = unpack(new EventEncoder(WireForm.MAP, false, true).encode(2, events, 0));

    ArrayValue written = batch.get(1).asArrayValue();
    assertThat(written.get(0).toJson())
        .isEqualTo(
            "{\"type\":\"BlockStored\",\"block_hashes\":[72340172838076673],"
                + "\"parent_block_hash\":null,\"token_ids\":[1,2,3,4],\"block_size\":4,"
                + "\"lora_id\":null,\"medium\":\"GPU\",\"lora_name\":null,\"extra_keys\":[null],"
                + "\"group_idx\":0,\"kv_cache_spec_kind\":\"full_attention\"}");
    assertThat(written.get(1).toJson())
        .isEqualTo(
            "{\"type\":\"BlockRemoved\",\"block_hashes\":[72340172838076673],"
                + "\"medium\":\"GPU\",\"group_idx\":0}");
  }

  @Test
  void arrayFormHasTheFieldsOfTheReleaseInOrder() throws IOException {
    List<CacheEvent> events =
        List.of(
            new CacheEvent.Stored(
                FULL, LOW, List.of(HIGH), tokens(1, 4), List.of(List.of()), "lora1"),
            new CacheEvent.Removed(0, LOW));

    ArrayValue batch = unpack(new EventEncoder(WireForm.ARRAY, false, true).encode(2, events, 0));

    ArrayValue written = batch.get(1).asArrayValue();
    assertThat(written.get(0).toJson())
        .isEqualTo(
            "[\"BlockStored\",[18446744073709551615],72340172838076673,[1,2,3,4],4,1,\"GPU\","
                + "\"lora1\",[null],0,\"full_attention\",null]");
    assertThat(written.get(1).toJson())
        .isEqualTo("[\"BlockRemoved\",[72340172838076673],\"GPU\",0]");
  }

  @Test
  void hostMemoryIsAMediumOfItsOwn() throws IOException {
    List<CacheEvent> events = List.of(new CacheEvent.Removed(StorageTier.CPU, 0, LOW));
    assertThat(unpack(new EventEncoder(WireForm.MAP, false, true).encode(2, events, 0)).toJson())
        .contains("\"medium\":\"CPU\"");
    assertThat(unpack(new EventEncoder(WireForm.SGLANG, false, true).encode(2, events, 0)).toJson())
        .contains("\"medium\":\"CPU_PINNED\"");
  }

  private static ArrayValue unpack(byte[] payload) throws IOException {
    try (MessageUnpacker unpacker = MessagePack.newDefaultUnpacker(payload)) {
      Value value = unpacker.unpackValue();
      assertThat(unpacker.hasNext()).isFalse();
      return value.asArrayValue();
    }
  }

  private static BlockHash hash(int octet) {
    byte[] digest = new byte[32];
    java.util.Arrays.fill(digest, (byte) octet);
    return new BlockHash(digest);
  }
}
