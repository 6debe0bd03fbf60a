package dev.warmpath.eventingest.wire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.wire.EventColumns.SkipReason;
import dev.warmpath.eventingest.wire.KvEvent.BlockRemoved;
import dev.warmpath.eventingest.wire.KvEvent.BlockStored;
import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.block.BlockHasher;
import dev.warmpath.kvindex.block.ExtraKey;
import dev.warmpath.kvindex.block.PromptKeys;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.msgpack.core.MessagePack;
import org.msgpack.value.Value;
import org.msgpack.value.ValueFactory;

/** What single releases send, and what each flaw of an event leads to. */
class KvEventDecoderFormsTest {

  private static final Object NIL = null;

  @Test
  void theFirstReleasesSendSixElementsAndTwo() throws Exception {
    KvEventBatch batch =
        decode(
            List.of("BlockStored", List.of(-7), -1, List.of(1, 2), 2, 3),
            List.of("BlockRemoved", List.of(9)));
    BlockStored stored = (BlockStored) batch.events().get(0);
    assertThat(stored.blockHashes()).containsExactly(-7);
    assertThat(stored.parentBlockHash()).isEqualTo(-1);
    assertThat(stored.place()).isEqualTo(BlockPlace.GPU);
    assertThat(stored.naming()).isEqualTo(Naming.UNNAMED_ADAPTER);
    assertThat(((BlockRemoved) batch.events().get(1)).place()).isEqualTo(BlockPlace.GPU);
  }

  @Test
  void oldSglangPutsTheSaltIntoAMapInTheAdaptersPlace() throws Exception {
    BlockStored stored =
        stored(array(List.of(1), NIL, List.of(5), 1, NIL, "GPU", Map.of("cache_salt", "s")));
    assertThat(stored.keys().loraName()).isNull();
    assertThat(stored.keys().cacheSalt()).isEqualTo("s");
  }

  @Test
  void theKeysOfEveryEngineEqualTheKeysOfTheRequest() throws Exception {
    PromptKeys request = new PromptKeys("fr", "s1");
    Map<String, Object> vllm = map(List.of(1, 2), List.of(10, 11, 12, 13), 2);
    vllm.put("lora_name", "fr");
    vllm.put("extra_keys", List.of(List.of("fr", "s1"), List.of("fr")));
    Map<String, Object> sglang = map(List.of(1, 2), List.of(10, 11, 12, 13), 2);
    sglang.put("lora_name", "fr");
    sglang.put("cache_salt", "s1");
    for (Map<String, Object> event : List.of(vllm, sglang)) {
      BlockStored stored = stored(event);
      assertThat(stored.naming()).isEqualTo(Naming.DENSE);
      for (int block = 0; block < 2; block++) {
        assertThat(stored.localHash(block))
            .isEqualTo(
                BlockHasher.localHash(
                    new int[] {10, 11, 12, 13}, 2 * block, 2, request.of(block, 2)));
      }
    }
  }

  @Test
  void aSaltOfTheWholeChainIsOnItsFirstBlockOnly() throws Exception {
    Map<String, Object> event = map(List.of(1), List.of(10, 11), 2);
    event.put("cache_salt", "s1");
    event.put("parent_block_hash", 77);
    assertThat(stored(event).extraKeys(0)).isEmpty();
  }

  @Test
  void extraKeysAreTypedByTheirShape() throws Exception {
    Map<String, Object> event = map(List.of(1), List.of(10, 11), 2);
    event.put("lora_name", "fr");
    event.put(
        "extra_keys",
        List.of(List.of("fr", List.of("image", -3), List.of("alone"), "fr", new byte[] {1, -1})));
    assertThat(stored(event).extraKeys(0))
        .containsExactly(
            new ExtraKey.Lora("fr"),
            new ExtraKey.Multimodal("image", -3),
            new ExtraKey.Multimodal("alone", 0),
            new ExtraKey.CacheSalt("fr"),
            new ExtraKey.PromptEmbeds("01ff"));
  }

  @Test
  void pairsOfTokensAreTokensAndOneLookaheadToken() throws Exception {
    List<Object> pairs = List.of(List.of(1, 2), List.of(2, 3), List.of(3, 4), List.of(4, 5));
    BlockStored stored = stored(map(List.of(1, 2), pairs, 2));
    assertThat(stored.tokens().ids()).containsExactly(1, 2, 3, 4, 5);
    assertThat(stored.tokens().lookaheadTokens()).isEqualTo(1);
    assertThat(stored.naming()).isEqualTo(Naming.DENSE);
    assertThat(stored.localHash(1))
        .isEqualTo(BlockHasher.localHash(new int[] {3, 4, 5}, 0, 3, List.of()));
  }

  @Test
  void lookaheadTokensOfTheLastBlockFollowTheTokens() throws Exception {
    Map<String, Object> event = map(List.of(1, 2), List.of(10, 11, 12, 13), 2);
    event.put("lookahead_token_ids", List.of(List.of(12, 13, 14), List.of(14, 15, 16)));
    BlockStored stored = stored(event);
    assertThat(stored.naming()).isEqualTo(Naming.DENSE);
    assertThat(stored.tokens().ids()).containsExactly(10, 11, 12, 13, 14, 15, 16);
    assertThat(stored.localHash(0))
        .isEqualTo(BlockHasher.localHash(new int[] {10, 11, 12, 13, 14}, 0, 5, List.of()));
  }

  @Test
  void flawsForbidNamesAndKeepHashes() throws Exception {
    assertNaming(map(List.of(1), List.of(), 2), Naming.TOKENLESS);
    assertNaming(map(List.of(1), List.of(), 0), Naming.TOKENLESS);
    assertNaming(map(List.of(1), List.of(1, 2, 3), 2), Naming.SPARSE);
    assertNaming(map(List.of(1), List.of(1, 2, 3), 0), Naming.SPARSE);
    assertNaming(
        map(List.of(1), List.of(List.of(1, 2), List.of(3, 4)), 2), Naming.BROKEN_LOOKAHEAD);
    assertNaming(with("extra_keys", Arrays.asList(null, null)), Naming.UNEVEN);
    assertNaming(with("extra_keys", List.of(List.of(5))), Naming.UNKNOWN_KEY);
    assertNaming(with("lookahead_token_ids", List.of()), Naming.UNEVEN);
    assertNaming(with("lora_id", 4), Naming.UNNAMED_ADAPTER);
    Map<String, Object> event = map(List.of(1, 2), List.of(10, 11, 12, 13), 2);
    event.put("lookahead_token_ids", List.of(List.of(99), List.of(14)));
    assertNaming(event, Naming.BROKEN_LOOKAHEAD);
    event.put("lookahead_token_ids", List.of(List.of(12, 13), List.of(14)));
    assertNaming(event, Naming.BROKEN_LOOKAHEAD);
  }

  @Test
  void idsThatDoNotFitAreMadeNegativeAndStayThemselvesForTheFirstBlock() throws Exception {
    long wide = 1_000_000 + (1L << 55);
    int[] narrow = {1, EventRow.narrow(wide), Integer.MAX_VALUE, EventRow.narrow(wide + 1)};
    assertThat(narrow[1]).isEqualTo(-1_408_276_044).isNotEqualTo(narrow[3]);
    List<Object> ids = List.of(1, wide, Integer.MAX_VALUE, wide + 1);
    EventRow plain = row(map(List.of(1, 2), ids, 2));
    assertThat(plain.naming()).isEqualTo(Naming.DENSE);
    assertThat(plain.tokenIds()).containsExactly(narrow);
    assertThat(plain.firstBlockIds()).containsExactly(1, wide);
    List<Object> pairs =
        List.of(List.of(1, wide), List.of(wide, Integer.MAX_VALUE), List.of(Integer.MAX_VALUE, 4));
    EventRow paired = row(map(List.of(1), pairs, 3));
    assertThat(paired.naming()).isEqualTo(Naming.DENSE);
    assertThat(paired.tokenIds()).containsExactly(1, narrow[1], Integer.MAX_VALUE, 4);
    assertThat(paired.firstBlockIds()).containsExactly(1, wide, Integer.MAX_VALUE, 4);
    EventRow unwide = row(map(List.of(1), List.of(List.of(1, 2), List.of(2, 3)), 2));
    assertThat(unwide.firstBlockIds()).containsExactly(1, 2, 3);
    assertNaming(
        map(List.of(1), List.of(List.of(1, 2), List.of(wide, 4)), 2), Naming.BROKEN_LOOKAHEAD);
  }

  @Test
  void anIdBelowZeroIsMadeAnotherOne() throws Exception {
    EventRow plain = row(map(List.of(1), List.of(1, -4), 2));
    assertThat(plain.naming()).isEqualTo(Naming.DENSE);
    assertThat(plain.tokenIds()).containsExactly(1, EventRow.narrow(-4));
    assertThat(EventRow.narrow(-4)).isNegative().isNotEqualTo(-4);
    EventRow pairs = row(map(List.of(1), List.of(List.of(1, 7), List.of(7, -4)), 2));
    assertThat(pairs.naming()).isEqualTo(Naming.DENSE);
    assertThat(pairs.tokenIds()).containsExactly(1, 7, EventRow.narrow(-4));
  }

  @Test
  void aWideIdBehindAFirstBlockWithOneIsReadToo() throws Exception {
    Map<String, Object> event = map(List.of(1), List.of(1, 1L << 40), 2);
    event.put("lookahead_token_ids", List.of(List.of((1L << 40) + 1)));
    EventRow row = row(event);
    assertThat(row.tokenIds())
        .containsExactly(1, EventRow.narrow(1L << 40), EventRow.narrow((1L << 40) + 1));
  }

  @Test
  void allDecodersReadWideIdsAlike() throws Exception {
    ThreeDecoders decoders = new ThreeDecoders();
    SplittableRandom random = new SplittableRandom(3);
    for (int round = 0; round < 500; round++) {
      List<Object> ids = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        boolean isWide = random.nextInt(3) == 0;
        ids.add(isWide ? random.nextLong() >>> random.nextInt(1, 40) : random.nextInt(1_000));
      }
      Map<String, Object> event = map(List.of(1, 2), ids, 4);
      List<List<Object>> ahead = List.of(List.of(ids.get(4)), List.of(random.nextLong() >>> 1));
      if (round % 3 == 1) {
        event.put("lookahead_token_ids", ahead);
      } else if (round % 3 == 2) {
        event.put("token_ids", IntStream.range(0, 7).mapToObj(i -> ids.subList(i, i + 2)).toList());
        event.put("block_size", 7);
        event.put("block_hashes", List.of(1));
      }
      EventColumns read = decoders.agree(payload(event));
      assertThat(read.row(0).naming()).isEqualTo(Naming.DENSE);
    }
  }

  @Test
  void fewIdsBecomeTheSameNumber() {
    long distinct =
        LongStream.range(0, 100_000)
            .mapToInt(i -> EventRow.narrow((1L << 40) + i))
            .distinct()
            .count();
    assertThat(distinct).as("100,000² / 2 / 2³¹ is 2.3").isGreaterThan(99_990);
  }

  @Test
  void lookaheadTokensThatAreNotAListForEachHashForbidNames() throws Exception {
    for (Object ragged :
        Arrays.asList(
            7,
            "text",
            Map.of(),
            List.of(12, 14),
            List.of(List.of(12), 14),
            Arrays.asList(null, List.of(14)),
            Arrays.asList(List.of(12), null),
            List.of(List.of(12), List.of("14")),
            List.of(List.of("12"), List.of(14)),
            List.of(List.of(12), List.of(List.of(14))))) {
      Map<String, Object> event = map(List.of(1, 2), List.of(10, 11, 12, 13), 2);
      event.put("lookahead_token_ids", ragged);
      BlockStored stored = stored(event);
      assertThat(stored.naming()).as("%s", ragged).isEqualTo(Naming.UNEVEN);
      assertThat(stored.blockHashes()).containsExactly(1, 2);
      assertThat(stored.tokens().ids()).containsExactly(10, 11, 12, 13);
    }
    Map<String, Object> event = map(List.of(1, 2), List.of(10, 11, 12, 13), 2);
    for (Object ragged :
        List.of(
            List.of(List.of(12), List.of()),
            List.of(List.of(), List.of(14)),
            List.of(List.of(12, 13), List.of(14)),
            List.of(List.of(12), List.of(14, 15)))) {
      event.put("lookahead_token_ids", ragged);
      assertNaming(event, Naming.BROKEN_LOOKAHEAD);
    }
    event.put("lookahead_token_ids", List.of(List.of(), List.of()));
    assertNaming(event, Naming.DENSE);
  }

  @Test
  void raggedPairsForbidNames() throws Exception {
    for (Object ragged : List.of(List.of(3), List.of(2, 3, 4), 3, List.of(2, "3"), List.of())) {
      BlockStored stored = stored(map(List.of(1, 2), List.of(List.of(1, 2), ragged), 1));
      assertThat(stored.naming()).as("%s", ragged).isEqualTo(Naming.BROKEN_LOOKAHEAD);
      assertThat(stored.blockHashes()).containsExactly(1, 2);
    }
    assertNaming(map(List.of(1), List.of(List.of(1)), 1), Naming.TOKENLESS);
  }

  /** Fields that came with maps, in the order in which vLLM declares them. */
  @Test
  void arraysMayHaveAllFieldsThatMapsHave() throws Exception {
    List<Object> tokens = List.of(10, 11, 12, 13);
    List<Object> ahead = List.of(List.of(12), List.of(14));
    BlockStored stored =
        stored(
            array(
                List.of(1, 2),
                NIL,
                tokens,
                2,
                NIL,
                "CPU",
                NIL,
                NIL,
                0,
                NIL,
                NIL,
                "REMOTE",
                "kvcr",
                "session",
                ahead));
    assertThat(stored.place()).isEqualTo(new BlockPlace("CPU", 0, "REMOTE", "kvcr"));
    assertThat(stored.naming()).isEqualTo(Naming.DENSE);
    assertThat(stored.tokens().lookaheadTokens()).isEqualTo(1);
    assertThat(stored.localHash(1))
        .isEqualTo(BlockHasher.localHash(new int[] {12, 13, 14}, 0, 3, List.of()));
    KvEventBatch removal = decode(List.of("BlockRemoved", List.of(9), "CPU", 0, "REMOTE", "kvcr"));
    assertThat(((BlockRemoved) removal.events().get(0)).place()).isEqualTo(stored.place());
  }

  @Test
  void elementsOfAnotherKindAreNotTheFieldsOfTheirPlace() throws Exception {
    BlockStored stored =
        stored(
            array(
                List.of(1),
                NIL,
                List.of(1, 2),
                2,
                NIL,
                "GPU",
                NIL,
                NIL,
                0,
                NIL,
                NIL,
                7,
                List.of(8),
                Map.of(),
                "no list",
                9));
    assertThat(stored.place()).isEqualTo(BlockPlace.GPU);
    assertThat(stored.naming()).isEqualTo(Naming.DENSE);
    assertThat(stored.tokens().lookaheadTokens()).isZero();
  }

  @Test
  void malformedEventsAreCountedAndTheOthersKept() throws Exception {
    Map<String, Object> good = map(List.of(1), List.of(1, 2), 2);
    KvEventBatch batch =
        decode(
            with("block_hashes", "text"),
            with("block_size", -1),
            with("token_ids", List.of("a")),
            with("token_ids", List.of(1, 1.5)),
            with("medium", 7),
            Map.of("type", "BlockStored"),
            with("group_idx", 1 << 20),
            good,
            7,
            List.of(),
            Map.of("block_hashes", List.of(1)),
            List.of("BlockSplit", 1));
    assertThat(batch.events()).hasSize(1);
    assertThat(batch.skipped())
        .isEqualTo(
            Map.of(
                SkipReason.MALFORMED_STORED, 7,
                SkipReason.UNTYPED, 3,
                SkipReason.UNKNOWN_TYPE, 1));
    assertThat(batch.firstProblem()).startsWith("BlockStored: ").doesNotContain("text");
    assertThat(batch.mayHideRemovals()).isTrue();
  }

  @Test
  void onlyAMalformedRemovalEndangersWhatIsCredited() throws Exception {
    assertThat(decode(Map.of("type", "BlockStored")).mayHideRemovals()).isFalse();
    assertThat(decode(List.of("BlockSplit")).mayHideRemovals()).isFalse();
    assertThat(decode(List.of("BlockRemoved", 5)).mayHideRemovals()).isTrue();
  }

  @Test
  void groupsSayTheirRule() throws Exception {
    assertRule(null, 0, CacheGroup.Kind.FULL_ATTENTION);
    assertRule("mla_attention", 0, CacheGroup.Kind.FULL_ATTENTION);
    assertRule("sliding_window", 128, CacheGroup.Kind.SLIDING_WINDOW);
    assertRule("sliding_window", 0, CacheGroup.Kind.UNKNOWN);
    assertRule("mamba", 0, CacheGroup.Kind.MAMBA);
    assertRule("chunked_local_attention", 64, CacheGroup.Kind.UNKNOWN);
  }

  private static void assertRule(String kind, int window, CacheGroup.Kind rule) throws Exception {
    Map<String, Object> event = map(List.of(1), List.of(1, 2), 2);
    event.put("kv_cache_spec_kind", kind);
    event.put("kv_cache_spec_sliding_window", window == 0 ? null : window);
    assertThat(stored(event).spec().rule()).isEqualTo(rule);
  }

  private static void assertNaming(Map<String, Object> event, Naming naming) throws Exception {
    BlockStored stored = stored(event);
    assertThat(stored.naming()).isEqualTo(naming);
    assertThat(stored.blockHashes()).startsWith(1);
  }

  /** One dense block, and a field of its own. */
  private static Map<String, Object> with(String field, Object value) {
    Map<String, Object> event = map(List.of(1), List.of(1, 2), 2);
    event.put(field, value);
    return event;
  }

  private static Map<String, Object> map(List<?> hashes, List<?> tokens, int blockSize) {
    Map<String, Object> event = new LinkedHashMap<>();
    event.put("type", "BlockStored");
    event.put("block_hashes", hashes);
    event.put("parent_block_hash", null);
    event.put("token_ids", tokens);
    event.put("block_size", blockSize);
    event.put("lora_id", null);
    event.put("medium", "GPU");
    event.put("lora_name", null);
    return event;
  }

  private static List<Object> array(Object... fields) {
    Object[] event = new Object[fields.length + 1];
    event[0] = "BlockStored";
    System.arraycopy(fields, 0, event, 1, fields.length);
    return Arrays.asList(event);
  }

  private static BlockStored stored(Object event) throws Exception {
    KvEventBatch batch = decode(event);
    assertThat(batch.firstProblem()).isEmpty();
    return (BlockStored) batch.events().get(0);
  }

  private static KvEventBatch decode(Object... events) throws Exception {
    return new KvEventDecoder().decode(payload(events));
  }

  private static EventRow row(Object event) throws Exception {
    return new ColumnDecoder().decode(payload(event)).row(0);
  }

  private static byte[] payload(Object... events) throws Exception {
    try (var packer = MessagePack.newDefaultBufferPacker()) {
      packer.packValue(value(Arrays.asList(1.5, Arrays.asList(events))));
      return packer.toByteArray();
    }
  }

  private static Value value(Object plain) {
    if (plain instanceof String text) {
      return ValueFactory.newString(text);
    }
    if (plain instanceof Double number) {
      return ValueFactory.newFloat(number);
    }
    if (plain instanceof Number number) {
      return ValueFactory.newInteger(number.longValue());
    }
    if (plain instanceof byte[] bytes) {
      return ValueFactory.newBinary(bytes);
    }
    if (plain instanceof List<?> list) {
      return ValueFactory.newArray(list.stream().map(it -> value(it)).toList());
    }
    if (plain instanceof Map<?, ?> map) {
      ValueFactory.MapBuilder builder = ValueFactory.newMapBuilder();
      map.forEach((key, it) -> builder.put(value(key), value(it)));
      return builder.build();
    }
    return ValueFactory.newNil();
  }
}
