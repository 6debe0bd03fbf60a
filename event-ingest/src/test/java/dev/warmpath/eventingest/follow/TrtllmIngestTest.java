package dev.warmpath.eventingest.follow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.Await;
import dev.warmpath.eventingest.Clocks;
import dev.warmpath.eventingest.EngineDialect;
import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.eventingest.EngineStatus;
import dev.warmpath.eventingest.TestPublisher;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.eventingest.WireBatch;
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
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** An engine that pushes its events as TensorRT-LLM does, over loopback sockets. */
class TrtllmIngestTest {

  private static final int TOKENS_A_BLOCK = 32;
  private static final int BLOCKS = 6;
  private static final int[] PROMPT = IntStream.range(0, BLOCKS * TOKENS_A_BLOCK + 1).toArray();
  private static final EngineId ID = new EngineId("trt", 0);

  private final KvIndex index = new RunKvIndex(IndexLimits.unbounded(100));

  @Test
  void followsItsStreamFromTheReplayOn() {
    try (TestPublisher engine = new TestPublisher(3);
        EventIngest ingest = new EventIngest(index, Clocks.ofTheMachine())) {
      engine.keep(WireBatch.of(stored(0, 2)));
      ingest.add(source(engine));
      Await.until("the first blocks", () -> credited(ingest) == 2 * TOKENS_A_BLOCK);
      Await.until("the replay's end", () -> status(ingest).trust() == Trust.EXACT);

      engine.publish(WireBatch.of(stored(2, 4), stored(4, 6)));
      Await.until("all blocks", () -> credited(ingest) == BLOCKS * TOKENS_A_BLOCK);

      // One copy of each block, whoever computed it too: it is gone when it is removed.
      engine.publish(WireBatch.of(stored(2, 4), removed(3), removed(5, 4)));
      Await.until("the batch", () -> status(ingest).lastSequence() == 2);
      ingest.settle();
      assertThat(credited(ingest)).isEqualTo(3 * TOKENS_A_BLOCK);
      assertThat(index.stats(0).heldBlocks()).isEqualTo(3);

      // A batch that found no room in the engine's queue is a hole in the sequence, in replays too.
      engine.keep(WireBatch.of(removed(2)));
      engine.publish(WireBatch.of(stored(3, 4)));
      Await.until("the lost removal", () -> status(ingest).lastSequence() == 4);
      assertThat(credited(ingest)).isEqualTo(2 * TOKENS_A_BLOCK);
      Await.until("trust", () -> status(ingest).trust() == Trust.EXACT);

      engine.publish(WireBatch.of(Map.of("type", "AllBlocksCleared")));
      Await.until("nothing", () -> credited(ingest) == 0);
    }
  }

  @Test
  void blocksOfSeveralWindowsAreCreditedToNobody() {
    try (TestPublisher engine = new TestPublisher(3);
        EventIngest ingest = new EventIngest(index, Clocks.ofTheMachine())) {
      ingest.add(source(engine));
      Await.until("a connection", () -> status(ingest).trust() != Trust.NONE);
      engine.publish(WireBatch.of(windowed(8_192)));
      Await.until("the first window", () -> credited(ingest) == BLOCKS * TOKENS_A_BLOCK);
      engine.publish(WireBatch.of(windowed(512)));
      Await.until("the second", () -> credited(ingest) == 0);
    }
  }

  /** As its event manager writes them: no adapter, no salt, no group; hashes are signed. */
  private static Map<String, Object> stored(int from, int to) {
    Map<String, Object> event = new LinkedHashMap<>();
    event.put("type", "BlockStored");
    event.put("block_hashes", LongStream.range(from, to).map(b -> hash((int) b)).boxed().toList());
    event.put("parent_block_hash", from == 0 ? "nil" : (Object) hash(from - 1));
    event.put(
        "token_ids", IntStream.range(from * TOKENS_A_BLOCK, to * TOKENS_A_BLOCK).boxed().toList());
    event.put("block_size", TOKENS_A_BLOCK);
    event.put("lora_id", "nil");
    event.put("medium", "GPU");
    event.put("lora_name", "nil");
    return event;
  }

  private static Map<String, Object> removed(int... blocks) {
    List<Long> hashes = IntStream.of(blocks).mapToObj(TrtllmIngestTest::hash).toList();
    return Map.of("type", "BlockRemoved", "block_hashes", hashes, "medium", "GPU");
  }

  private static Map<String, Object> windowed(int window) {
    Map<String, Object> event = stored(0, BLOCKS);
    event.put("window_size", window);
    return event;
  }

  private static long hash(int block) {
    return (block + 1) * 0x9E3779B97F4A7C15L;
  }

  private static EngineSource source(TestPublisher engine) {
    return new EngineSource(
        ID, "m", engine.endpoint(), false, engine.replayEndpoint(), EngineDialect.TRTLLM);
  }

  private static EngineStatus status(EventIngest ingest) {
    return ingest.status().get(0);
  }

  private int credited(EventIngest ingest) {
    ChainSpace space = status(ingest).space();
    if (space == null) {
      return 0;
    }
    PrefixMatches matches = new PrefixMatches();
    index.match(BlockChain.of(space, PROMPT, PromptKeys.NONE), matches);
    return matches.tokens(0);
  }
}
