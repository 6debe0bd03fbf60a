package dev.warmpath.eventingest.stream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.EngineDialect;
import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.eventingest.MovableClock;
import dev.warmpath.eventingest.ReportedReuse;
import dev.warmpath.eventingest.StreamCounter;
import dev.warmpath.eventingest.StreamCounters;
import dev.warmpath.eventingest.TestEngine;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.eventingest.apply.EventApplier;
import dev.warmpath.eventingest.wire.StreamMessage;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.kvindex.runs.RunKvIndex;
import java.time.Duration;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ReuseJudgeTest {

  private static final int[] PROMPT = IntStream.range(0, 25).toArray();
  private static final int HELD_TOKENS = 24;

  private final MovableClock time = new MovableClock();
  private final StreamCounters counters = new StreamCounters();
  private final KvIndex index = new RunKvIndex(IndexLimits.unbounded(100));
  private final TestEngine engine = new TestEngine();
  private final EventApplier applier =
      new EventApplier(
          index,
          new EngineSource(new EngineId("r", 0), "m", "tcp://x", false, null, EngineDialect.VLLM),
          counters);
  private final EngineStream stream =
      new EngineStream(applier, StreamSockets.NO_REPLAY, StreamLimits.DEFAULT, time, counters);
  private int delivered;

  @BeforeEach
  void serveOnePrompt() {
    stream.connected();
    engine.serve(PROMPT);
    deliver();
    time.pass(Duration.ofSeconds(10));
    assertThat(stream.trust().trust()).isEqualTo(Trust.EXACT);
    assertThat(predicted()).isEqualTo(HELD_TOKENS);
  }

  @Test
  void shortHitsThatNothingExplainsSuspend() {
    for (int i = 0; i < ReuseJudge.SHORT_HITS; i++) {
      assertThat(stream.trust().trust()).isEqualTo(Trust.EXACT);
      report(0, HELD_TOKENS);
      time.pass(Duration.ofSeconds(2));
      stream.tick();
    }

    assertThat(stream.trust().trust()).isEqualTo(Trust.SUSPECT);
    assertThat(stream.trust().reason())
        .contains("the engine keeps reusing less than the index shows");
    assertThat(predicted()).isZero();
    assertThat(counters.get(StreamCounter.SHORT_HITS)).isEqualTo(ReuseJudge.SHORT_HITS);
  }

  @Test
  void removalMeanwhileExplainsThem() {
    for (int i = 0; i < 5; i++) {
      report(0, HELD_TOKENS);
      engine.serve(IntStream.range(100 + 10 * i, 110 + 10 * i).toArray());
      engine.evict(IntStream.range(100 + 10 * i, 110 + 10 * i).toArray(), 1);
      deliver();
      time.pass(Duration.ofSeconds(2));
      stream.tick();
    }

    assertThat(stream.trust().trust()).isEqualTo(Trust.EXACT);
    assertThat(counters.get(StreamCounter.SHORT_HITS)).isZero();
  }

  @Test
  void shortHitsFarApartAreNoPattern() {
    for (int i = 0; i < 5; i++) {
      report(0, HELD_TOKENS);
      time.pass(ReuseJudge.WINDOW);
      stream.tick();
    }
    assertThat(stream.trust().trust()).isEqualTo(Trust.EXACT);
    assertThat(counters.get(StreamCounter.SHORT_HITS)).isEqualTo(5);
  }

  /** A store is believed again as soon as what it held is suspended. */
  @Test
  void hitsOfOneLossCountUntilItIsActedOn() {
    ReuseJudge judge = new ReuseJudge(true, counters, time);
    long suspendedNanos = time.getAsLong();
    for (int i = 0; i < ReuseJudge.SHORT_HITS; i++) {
      time.pass(Duration.ofMillis(300));
      judge.answered(new ReportedReuse(chain(), 0, HELD_TOKENS, time.getAsLong()));
    }
    time.pass(ReuseJudge.WAIT.minusMillis(1));
    for (int i = 0; i < ReuseJudge.SHORT_HITS; i++) {
      judge.answered(new ReportedReuse(chain(), 0, HELD_TOKENS, time.getAsLong()));
    }
    time.pass(Duration.ofMillis(1));
    assertThat(judge.isOverPredicted(true, suspendedNanos)).isTrue();
    suspendedNanos = time.getAsLong();
    time.pass(ReuseJudge.WAIT);
    assertThat(judge.isOverPredicted(true, suspendedNanos)).isFalse();
    for (int i = 0; i < ReuseJudge.SHORT_HITS; i++) {
      judge.answered(new ReportedReuse(chain(), 0, HELD_TOKENS, time.getAsLong()));
    }
    time.pass(ReuseJudge.WAIT);
    assertThat(judge.isOverPredicted(true, suspendedNanos)).as("another loss").isTrue();
  }

  @Test
  void reportedHitConfirmsWhatIsSuspended() {
    stream.suspend("a test");
    assertThat(predicted()).isZero();
    time.pass(Duration.ofSeconds(5));

    report(HELD_TOKENS, -1);

    assertThat(predicted()).isEqualTo(HELD_TOKENS);
    assertThat(stream.trust().trust()).as("not all is known").isEqualTo(Trust.SUSPECT);
  }

  @Test
  void hitOfRequestFromBeforeTheSuspensionConfirmsNothing() {
    stream.suspend("a test");
    time.pass(Duration.ofSeconds(5));
    stream.reused(new ReportedReuse(chain(), HELD_TOKENS, -1, time.getAsLong() - 9_000_000_000L));

    assertThat(predicted()).isZero();
  }

  private void report(int cachedTokens, int predictedTokens) {
    stream.reused(
        new ReportedReuse(
            chain(), cachedTokens, predictedTokens, time.getAsLong() - 1_000_000_000L));
  }

  private void deliver() {
    while (delivered < engine.published().size()) {
      stream.live(new StreamMessage(delivered, engine.payload(delivered)));
      delivered++;
    }
  }

  private BlockChain chain() {
    return BlockChain.of(Objects.requireNonNull(applier.space()), PROMPT, PromptKeys.NONE);
  }

  private int predicted() {
    PrefixMatches matches = new PrefixMatches();
    index.match(chain(), matches);
    return matches.tokens(applier.slot());
  }
}
