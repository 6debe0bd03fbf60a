package dev.warmpath.eventingest.apply;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.EngineDialect;
import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.EngineRules;
import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.eventingest.StreamCounter;
import dev.warmpath.eventingest.StreamCounters;
import dev.warmpath.eventingest.WireBatch;
import dev.warmpath.eventingest.wire.ColumnDecoder;
import dev.warmpath.eventingest.wire.WireException;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.kvindex.runs.RunKvIndex;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What removals, owners and windows mean, from the bytes that engines send. */
class CopiesOnTheWireTest {

  private static final int[] PROMPT = IntStream.range(0, 13).toArray();

  private final KvIndex index = new RunKvIndex(IndexLimits.unbounded(100));
  private final StreamCounters counters = new StreamCounters();
  private final ColumnDecoder decoder = new ColumnDecoder();
  private EventApplier applier = applier(EngineDialect.VLLM, CopyCounting.PER_COPY);

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void eachRemovalTakesOneCopy(boolean maps) throws WireException {
    hear(store(maps), store(maps));
    hear(removal(maps, 3));
    assertThat(credited()).isEqualTo(12);
    hear(removal(maps, 3));
    assertThat(credited()).isEqualTo(8);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void onlyTheLastCopyIsRemovedWhereThePolicySaysSo(boolean maps) throws WireException {
    applier = applier(EngineDialect.VLLM, CopyCounting.PRESENCE);
    hear(store(maps), store(maps));
    hear(removal(maps, 3));
    assertThat(credited()).as("per copy it would be held for ever").isEqualTo(8);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void perCopyHoldsForSglangTooWhereThePolicySaysSo(boolean maps) throws WireException {
    applier = applier(EngineDialect.SGLANG, CopyCounting.PER_COPY);
    hear(store(maps), store(maps));
    hear(removal(maps, 3));
    assertThat(applier.stats().heldBlocks()).isEqualTo(3);
  }

  @Test
  void whatASecondaryTierStoresIsCreditedToNobody() throws WireException {
    hear(store(true));
    Map<String, Object> offloaded = with(store(true), "medium", "CPU");
    hear(with(offloaded, "ownership", "kvcr"));
    assertThat(counters.get(StreamCounter.SECONDARY_BLOCKS)).isEqualTo(3);
    hear(removal(true, 1, 2, 3));
    assertThat(credited()).as("nobody would say when it goes").isZero();
    assertThat(applier.stats().heldBlocks()).isZero();
  }

  @Test
  void whatASecondaryTierRemovesIsNotTakenFromTheEngine() throws WireException {
    hear(store(true), with(store(true), "medium", "CPU"));
    hear(with(with(removal(true, 1), "medium", "CPU"), "ownership", "kvcr"));
    hear(removal(true, 1, 2, 3));
    assertThat(credited()).isEqualTo(12);
  }

  @ParameterizedTest
  @ValueSource(strings = {"LOCAL", "local"})
  void localStorageIsTheReplicasOwn(String locality) throws WireException {
    hear(store(true), with(with(store(true), "medium", "CPU"), "locality", locality));
    hear(removal(true, 1, 2, 3));
    assertThat(credited()).isEqualTo(12);
  }

  @Test
  void remoteStorageIsNobodys() throws WireException {
    hear(store(true), with(with(store(true), "medium", "CPU"), "locality", "REMOTE"));
    hear(removal(true, 1, 2, 3));
    assertThat(credited()).isZero();
    assertThat(counters.get(StreamCounter.REMOTE_BLOCKS)).isEqualTo(3);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void chunksOfAnOffloadTierAreLearnedAsTheyAreDescribed(boolean maps) throws WireException {
    hear(store(maps), placeholder(maps));
    assertThat(applier.learned().chunkBlocks()).isEqualTo(LearnedCache.NO_CHUNKS);

    hear(onCpu(maps, store(maps)));
    assertThat(applier.learned().chunkBlocks()).isEqualTo(3);
    assertThat(credited()).isEqualTo(12);

    hear(onCpu(maps, shorter(maps)));
    assertThat(applier.learned().chunkBlocks()).as("of two sizes").isZero();
    applier.reset();
    assertThat(applier.learned().chunkBlocks()).isEqualTo(LearnedCache.NO_CHUNKS);
  }

  @Test
  void chunksAreForgottenWhenNothingIsHeld() throws WireException {
    hear(store(true), onCpu(true, store(true)), onCpu(true, shorter(true)));
    assertThat(applier.learned().chunkBlocks()).isZero();
    hear(List.of("AllBlocksCleared"), store(true), onCpu(true, store(true)));
    assertThat(applier.learned().chunkBlocks()).isEqualTo(3);
  }

  private static Object placeholder(boolean maps) {
    return maps
        ? with(
            with(with(onCpu(true, store(true)), "token_ids", List.of()), "block_size", 0),
            "extra_keys",
            "nil")
        : List.of("BlockStored", List.of(1, 2, 3), "nil", List.of(), 0, "nil", "CPU");
  }

  private static Object shorter(boolean maps) {
    List<Integer> tokens = IntStream.range(0, 4).boxed().toList();
    return maps
        ? with(
            with(with(store(true), "block_hashes", List.of(1)), "token_ids", tokens),
            "extra_keys",
            "nil")
        : List.of("BlockStored", List.of(1), "nil", tokens, 4, "nil", "GPU");
  }

  private static Object onCpu(boolean maps, Object event) {
    if (maps) {
      return with(event, "medium", "CPU");
    }
    List<Object> fields = new ArrayList<>((List<?>) event);
    fields.set(6, "CPU");
    return fields;
  }

  @Test
  void arraysHaveNoneOfTheseFields() throws WireException {
    hear(store(false), store(false));
    List<Object> surplus = new ArrayList<>((List<?>) removal(false, 3));
    surplus.addAll(List.of(0, List.of(0), "kvcr"));
    hear(surplus);
    assertThat(credited()).isEqualTo(12);
  }

  @Test
  void oneWindowIsCreditedAndASecondOneNever() throws WireException {
    applier = applier(EngineDialect.TRTLLM, CopyCounting.PRESENCE);
    hear(with(store(true), "window_size", 32_768));
    assertThat(credited()).isEqualTo(12);

    hear(with(store(true), "window_size", 1_024));
    assertThat(credited()).as("a hit needs something of each window").isZero();
    assertThat(counters.get(StreamCounter.WINDOW_BLOCKS)).isEqualTo(3);

    applier.reset();
    hear(with(store(true), "window_size", 1_024));
    assertThat(credited()).isEqualTo(12);
    hear(with(removal(true, 1), "window_size", 32_768));
    assertThat(credited()).isZero();
  }

  private void hear(Object... events) throws WireException {
    applier.apply(decoder.decode(WireBatch.of(events)));
  }

  /** Three blocks of four tokens. */
  private static Object store(boolean maps) {
    List<Integer> tokens = IntStream.range(0, 12).boxed().toList();
    if (!maps) {
      return List.of("BlockStored", List.of(1, 2, 3), "nil", tokens, 4, "nil", "GPU");
    }
    return new LinkedHashMap<>(
        Map.of(
            "type",
            "BlockStored",
            "block_hashes",
            List.of(1, 2, 3),
            "parent_block_hash",
            "nil",
            "token_ids",
            tokens,
            "block_size",
            4,
            "extra_keys",
            List.of("nil", "nil", "nil")));
  }

  private static Object removal(boolean maps, long... hashes) {
    List<Long> list = LongStream.of(hashes).boxed().toList();
    return maps
        ? Map.of("type", "BlockRemoved", "block_hashes", list, "medium", "GPU")
        : List.of("BlockRemoved", list, "GPU");
  }

  private static Map<String, Object> with(Object event, String key, Object value) {
    Map<String, Object> more = new LinkedHashMap<>();
    ((Map<?, ?>) event).forEach((k, v) -> more.put(k.toString(), v));
    more.put(key, value);
    return more;
  }

  private int credited() {
    PrefixMatches matches = new PrefixMatches();
    ChainSpace space = Objects.requireNonNull(applier.space());
    index.match(BlockChain.of(space, PROMPT, PromptKeys.NONE), matches);
    return matches.tokens(applier.slot());
  }

  private EventApplier applier(EngineDialect dialect, CopyCounting removals) {
    EngineRules rules = new EngineRules(dialect, 0, removals, 0);
    EngineSource source =
        new EngineSource(new EngineId("r", 0), "m", "tcp://x", false, null, rules);
    return new EventApplier(index, source, counters);
  }
}
