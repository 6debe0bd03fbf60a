package dev.warmpath.eventingest.stream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.EngineDialect;
import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.EngineRules;
import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.eventingest.MovableClock;
import dev.warmpath.eventingest.StreamCounter;
import dev.warmpath.eventingest.StreamCounters;
import dev.warmpath.eventingest.TestEngine;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.eventingest.apply.EventApplier;
import dev.warmpath.eventingest.apply.LearnedCache;
import dev.warmpath.eventingest.wire.StreamMessage;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.KvIndex.EngineStats;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.kvindex.runs.RunKvIndex;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** An engine that announces more blocks than it can hold. */
class HostileEngineTest {

  private static final int MAX_BLOCKS = 160;
  private static final int MOST = MAX_BLOCKS + MAX_BLOCKS / 16 + 1;
  private static final int BLOCKS_A_PROMPT = 8;

  private final KvIndex index = new RunKvIndex(IndexLimits.unbounded(100));
  private final StreamCounters counters = new StreamCounters();
  private final TestEngine engine = new TestEngine();
  private EventApplier applier = applier(MAX_BLOCKS);
  private EngineStream stream = stream();
  private int delivered;

  @Test
  void whatItCannotHoldIsRefusedAndTheRestSuspended() {
    tell(0, 20);
    assertThat(trust()).isEqualTo(Trust.EXACT);
    assertThat(stats().heldBlocks()).isEqualTo(MAX_BLOCKS);

    tell(20, 22);
    assertThat(trust()).isEqualTo(Trust.SUSPECT);
    assertThat(stream.trust().reason())
        .startsWith("more was announced than the 171 blocks that the engine can hold; 168 blocks");
    assertThat(counters.get(StreamCounter.REFUSED_BLOCKS)).isEqualTo(BLOCKS_A_PROMPT);
    assertThat(credited(0)).as("something of it is not there, and nobody knows what").isZero();
  }

  @Test
  void whateverItAnnouncesTakesNoMoreRoom() {
    for (int prompt = 0; prompt < 400; prompt++) {
      tell(prompt, prompt + 1);
      EngineStats stats = stats();
      assertThat(stats.heldBlocks()).isLessThanOrEqualTo(MOST);
      assertThat(stats.suspendedBlocks()).isLessThanOrEqualTo(MOST);
    }
    assertThat(stats().heldBlocks()).as("not believed any more").isZero();
    assertThat(trust()).isEqualTo(Trust.SUSPECT);
    assertThat(counters.get(StreamCounter.REFUSED_BLOCKS)).isGreaterThan(2_000);

    publishCleared();
    assertThat(trust()).as("it says that it is empty").isEqualTo(Trust.SUSPECT);
    tell(1, 2);
    assertThat(credited(1)).isZero();
    assertThat(trust()).isEqualTo(Trust.SUSPECT);

    stream.restarted("another process");
    engine.restart();
    delivered = 0;
    tell(0, 2);
    assertThat(trust()).isEqualTo(Trust.EXACT);
    assertThat(credited(1)).isPositive();
  }

  @Test
  void anEngineThatMakesRoomFirstMayStayFull() {
    tell(0, 20);
    for (int prompt = 20; prompt < 200; prompt++) {
      for (int block = BLOCKS_A_PROMPT - 1; block >= 0; block--) {
        engine.evict(prompt(prompt - 20), block);
      }
      tell(prompt, prompt + 1);
    }
    assertThat(trust()).isEqualTo(Trust.EXACT);
    assertThat(stats().heldBlocks()).isEqualTo(MAX_BLOCKS);
    assertThat(counters.get(StreamCounter.REFUSED_BLOCKS)).isZero();
  }

  @Test
  void whatItsMetricsSayCountsWhereNobodyConfiguredIt() {
    applier = applier(0);
    stream = stream();
    tell(0, 40);
    assertThat(trust()).isEqualTo(Trust.EXACT);

    applier.gpuBlocks(MAX_BLOCKS);
    tell(40, 41);
    assertThat(trust()).isEqualTo(Trust.SUSPECT);
    applier.gpuBlocks(0);
    tell(41, 100);
    assertThat(counters.get(StreamCounter.REFUSED_BLOCKS)).isEqualTo(BLOCKS_A_PROMPT);
  }

  /** A number that is wrong must not cost all hits of the engine's lifetime. */
  @Test
  void whatItsMetricsSayIsIgnoredWhereTheEngineKeepsAnnouncingMore() {
    applier = applier(0);
    stream = stream();
    applier.gpuBlocks(MAX_BLOCKS);
    for (int prompt = 0; prompt < 400; prompt++) {
      applier.gpuBlocks(MAX_BLOCKS); // its metrics say so all the time
      tell(prompt, prompt + 1);
    }
    assertThat(counters.get(StreamCounter.REFUSED_BLOCKS)).isEqualTo(3 * BLOCKS_A_PROMPT);
    assertThat(stats().heldBlocks()).isGreaterThan(10 * MAX_BLOCKS);
    assertThat(credited(399)).isPositive();

    stream.restarted("another process");
    engine.restart();
    delivered = 0;
    applier.gpuBlocks(MAX_BLOCKS);
    tell(0, 30);
    assertThat(counters.get(StreamCounter.REFUSED_BLOCKS)).isGreaterThan(3 * BLOCKS_A_PROMPT);
  }

  /** Its GPU's number says nothing of the blocks that are elsewhere, which may be restored ones. */
  @Test
  void restoredEngineWithSlowerTiersKeepsWhatItHolds() {
    applier = applier(0);
    stream = stream();
    tell(0, 20);
    for (int prompt = 0; prompt < 20; prompt++) {
      engine.offload(prompt(prompt));
    }
    deliver();
    assertThat(stats().heldBlocks()).isEqualTo(2 * MAX_BLOCKS);
    LearnedCache learned = applier.learned();
    applier = new EventApplier(index, applier.source(), counters, applier.slot(), learned);
    stream = stream();
    applier.gpuBlocks(MAX_BLOCKS);
    for (int block = BLOCKS_A_PROMPT - 1; block >= 0; block--) {
      engine.evict(prompt(0), block);
    }
    tell(20, 21);
    assertThat(counters.get(StreamCounter.REFUSED_BLOCKS)).isZero();
    assertThat(credited(20)).isPositive();
  }

  private void tell(int from, int to) {
    for (int prompt = from; prompt < to; prompt++) {
      engine.serve(prompt(prompt));
    }
    deliver();
  }

  private void publishCleared() {
    engine.clear();
    deliver();
  }

  private void deliver() {
    for (; delivered < engine.published().size(); delivered++) {
      stream.live(new StreamMessage(delivered, engine.payload(delivered)));
    }
  }

  private int credited(int prompt) {
    PrefixMatches matches = new PrefixMatches();
    var space = Objects.requireNonNull(applier.space());
    index.match(BlockChain.of(space, prompt(prompt), PromptKeys.NONE), matches);
    return matches.tokens(applier.slot());
  }

  private EngineStats stats() {
    return applier.stats();
  }

  private Trust trust() {
    return stream.trust().trust();
  }

  /** No two have a block in common. */
  private static int[] prompt(int number) {
    return IntStream.range(0, BLOCKS_A_PROMPT * TestEngine.BLOCK)
        .map(i -> 1000 * number + i)
        .toArray();
  }

  private EventApplier applier(long maxBlocks) {
    EngineRules rules = new EngineRules(EngineDialect.VLLM, 0, CopyCounting.PER_COPY, maxBlocks);
    EngineSource source =
        new EngineSource(new EngineId("r", 0), "m", "tcp://x", false, null, rules);
    return new EventApplier(index, source, counters);
  }

  private EngineStream stream() {
    EngineStream fresh =
        new EngineStream(
            applier, StreamSockets.NO_REPLAY, StreamFixture.LIMITS, new MovableClock(), counters);
    fresh.connected();
    return fresh;
  }
}
