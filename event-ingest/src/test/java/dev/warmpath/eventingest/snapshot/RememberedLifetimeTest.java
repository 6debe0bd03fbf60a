package dev.warmpath.eventingest.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.EngineDialect;
import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.eventingest.StreamCounters;
import dev.warmpath.eventingest.WireBatch;
import dev.warmpath.eventingest.apply.EventApplier;
import dev.warmpath.eventingest.snapshot.EngineSnapshot.Identity;
import dev.warmpath.eventingest.wire.ColumnDecoder;
import dev.warmpath.eventingest.wire.WireException;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.kvindex.runs.RunKvIndex;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** What happened once in a process's lifetime counts after a restart of the router, too. */
final class RememberedLifetimeTest {

  private static final IndexLimits LIMITS = IndexLimits.unbounded(100);
  private static final int[] PROMPT = IntStream.range(0, 13).toArray();

  private final ColumnDecoder decoder = new ColumnDecoder();
  private StreamCounters counters = new StreamCounters();
  private RunKvIndex index = new RunKvIndex(LIMITS);
  private EventApplier applier = first(EngineDialect.VLLM);

  @Test
  void chunksOfTwoSizesStayTwo() throws Exception {
    hear(store(3, "GPU"), store(3, "CPU"));
    restart();
    assertThat(applier.learned().chunkBlocks()).isEqualTo(3);
    hear(store(1, "CPU"));
    assertThat(applier.learned().chunkBlocks()).isZero();
    restart();
    hear(store(3, "CPU"));
    assertThat(applier.learned().chunkBlocks()).as("there was another size").isZero();
    hear(Map.of("type", "AllBlocksCleared"), store(3, "GPU"), store(3, "CPU"));
    assertThat(applier.learned().chunkBlocks()).isEqualTo(3);
  }

  @Test
  void firstWindowIsTheFirstOneStill() throws Exception {
    applier = first(EngineDialect.TRTLLM);
    hear(windowed(8_192));
    restart();
    hear(windowed(8_192));
    assertThat(credited()).isEqualTo(12);
    hear(windowed(512));
    assertThat(credited()).isZero();
  }

  /** Another process goes on with what this one leaves in a file. */
  private void restart() throws IOException {
    EngineSource source = source(dialect());
    StreamSnapshot stream = new StreamSnapshot(0, 1, Double.NaN, null, applier.learned());
    EngineSnapshot engine = new EngineSnapshot(Identity.of(source), applier.slot(), 3, stream);
    IngestSnapshot snapshot =
        new IngestSnapshot(IngestSnapshotTest.snapshot().taken(), List.of(engine));
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    snapshot.writeTo(out, index, Integer.MAX_VALUE);
    index = new RunKvIndex(LIMITS);
    IngestSnapshot read = IngestSnapshotTest.readInto(index, out.toByteArray(), Integer.MAX_VALUE);
    counters = new StreamCounters();
    StreamSnapshot known = Objects.requireNonNull(read.engines().get(0).stream());
    applier = new EventApplier(index, source, counters, applier.slot(), known.learned());
  }

  private EngineDialect dialect() {
    return applier.learned().groups().windowTokens() == 0
        ? EngineDialect.VLLM
        : EngineDialect.TRTLLM;
  }

  private EventApplier first(EngineDialect dialect) {
    index = new RunKvIndex(LIMITS);
    return new EventApplier(index, source(dialect), counters);
  }

  private static EngineSource source(EngineDialect dialect) {
    return new EngineSource(new EngineId("r", 0), "m", "tcp://x", false, null, dialect);
  }

  private void hear(Object... events) throws WireException {
    applier.apply(decoder.decode(WireBatch.of(events)));
  }

  private int credited() {
    PrefixMatches matches = new PrefixMatches();
    ChainSpace space = Objects.requireNonNull(applier.space());
    index.match(BlockChain.of(space, PROMPT, PromptKeys.NONE), matches);
    return matches.tokens(applier.slot());
  }

  /** Blocks of four tokens, from the root on. */
  private static Map<String, Object> store(int blocks, String medium) {
    Map<String, Object> event = new LinkedHashMap<>();
    event.put("type", "BlockStored");
    event.put("block_hashes", LongStream.rangeClosed(1, blocks).boxed().toList());
    event.put("parent_block_hash", "nil");
    event.put("token_ids", IntStream.range(0, 4 * blocks).boxed().toList());
    event.put("block_size", 4);
    event.put("medium", medium);
    return event;
  }

  private static Map<String, Object> windowed(int window) {
    Map<String, Object> event = store(3, "GPU");
    event.put("window_size", window);
    return event;
  }

  private static Map<String, Object> removal(long hash) {
    return Map.of("type", "BlockRemoved", "block_hashes", List.of(hash), "medium", "GPU");
  }
}
