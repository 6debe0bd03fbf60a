package dev.warmpath.eventingest.apply;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.EngineDialect;
import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.EngineRules;
import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.eventingest.WireBatch;
import dev.warmpath.eventingest.apply.EventApplier.Effect;
import dev.warmpath.eventingest.count.StreamCounter;
import dev.warmpath.eventingest.count.StreamCounters;
import dev.warmpath.eventingest.wire.WireException;
import dev.warmpath.eventingest.wire.decode.ColumnDecoder;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.kvindex.runs.RunKvIndex;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** SGLang with write_back copies a block to the host when it evicts it, hours after its request. */
final class HiddenTierTest {

  private static final int[] PROMPT = IntStream.rangeClosed(1, 33).toArray();

  /** What SGLang makes of two pages of 16, whatever the request's extra_key. */
  private static final List<Long> HASHES = List.of(8635429971592222890L, 1256577331724852459L);

  private static final Map<String, Object> CLEARED = Map.of("type", "AllBlocksCleared");

  private final KvIndex index = new RunKvIndex(IndexLimits.unbounded(100));
  private final StreamCounters counters = new StreamCounters();
  private final ColumnDecoder decoder = new ColumnDecoder();
  private final EventApplier applier = new EventApplier(index, source(), counters);
  private long sequence;

  @Test
  void plainBlocksMoveToTheHost() throws Exception {
    hear(CLEARED);
    hear(store("GPU"));
    hear(store("CPU_PINNED"), removal());
    assertThat(credited()).isEqualTo(32);
  }

  @Test
  void hiddenBlocksMoveToTheHostLongAfterTheirRequest() throws Exception {
    hear(CLEARED);
    hide();
    hear(store("CPU_PINNED"), removal());
    assertThat(credited()).isZero();
    assertThat(counters.get(StreamCounter.HIDDEN_BLOCKS)).isEqualTo(4);

    hear(store("GPU"));
    assertThat(credited()).as("a store on the GPU is of a request").isEqualTo(32);
  }

  @Test
  void nothingHiddenIsHeldOnceTheCacheWasEmpty() throws Exception {
    hear(CLEARED);
    hide();
    hear(CLEARED);
    plainBlocksMoveToTheHost();
  }

  @Test
  void hiddenBlocksOfOthersMoveToTheHostToo() throws Exception {
    sequence = 7;
    applier.traffic().watching();
    hear(store("CPU_PINNED"), removal());
    assertThat(applier.space()).as("nothing was named").isNull();
    assertThat(counters.get(StreamCounter.HIDDEN_BLOCKS)).isEqualTo(2);
    plainBlocksMoveToTheHost();
  }

  /** A request in a hidden name space comes and goes. */
  private void hide() throws WireException {
    applier.traffic().sawHidden();
    applier.traffic().underWay(true);
    hear(store("GPU"));
    applier.traffic().underWay(false);
  }

  private Effect hear(Object... events) throws WireException {
    applier.traffic().hears(sequence);
    applier.traffic().applies(sequence++);
    return applier.apply(decoder.decode(WireBatch.of(events)));
  }

  private int credited() {
    PrefixMatches matches = new PrefixMatches();
    ChainSpace space = Objects.requireNonNull(applier.space());
    index.match(BlockChain.of(space, PROMPT, PromptKeys.NONE), matches);
    return matches.tokens(applier.slot());
  }

  private static EngineSource source() {
    return new EngineSource(
        new EngineId("r", 0), "m", "tcp://x", false, null, EngineRules.of(EngineDialect.SGLANG));
  }

  private static Map<String, Object> store(String medium) {
    Map<String, Object> event = new LinkedHashMap<>();
    event.put("type", "BlockStored");
    event.put("block_hashes", HASHES);
    event.put("parent_block_hash", "nil");
    event.put("token_ids", IntStream.rangeClosed(1, 32).boxed().toList());
    event.put("block_size", 16);
    event.put("medium", medium);
    return event;
  }

  private static Map<String, Object> removal() {
    return Map.of("type", "BlockRemoved", "block_hashes", HASHES, "medium", "GPU");
  }
}
