package dev.warmpath.simulator.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import dev.warmpath.simulator.engine.CostModel;
import dev.warmpath.simulator.engine.EngineConfig;
import dev.warmpath.simulator.engine.KvCacheConfig;
import dev.warmpath.simulator.trace.Trace;
import dev.warmpath.simulator.trace.TraceBuilder;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * What was published of NVIDIA Dynamo's mock engine (1.5.0, its default timing): 8 engines, 256
 * requests in flight, prompts of 512 tokens without anything in common, answers of 128.
 * docs/simulation.md says where, and why times to first token differ.
 */
class PublishedFiguresTest {

  private static final double PUBLISHED_LATENCY_MILLIS = 1209.7;
  private static final double PUBLISHED_REQUESTS_PER_SECOND = 210.5;
  private static final int IN_FLIGHT = 256;
  private static final int PROMPT = 512;
  private static final int ANSWER = 128;
  private static final int BLOCK = 64;

  @Test
  void closedLoopTakesAsLongAsOnDynamosMockEngine() {
    KvCacheConfig cache = KvCacheConfig.fullAttention(BLOCK, 16_384);
    EngineConfig engine =
        new EngineConfig(
            cache, 8192, 256, cache.maxSequenceTokens(), CostModel.PolynomialCost.DYNAMO);
    Trace trace = closedLoop(20);
    Runs.Outcome run = Runs.run("round-robin", trace, 8, engine, IndexMode.NOW);
    assertThat(run.answered()).isEqualTo(trace.requests());
    assertThat(run.hitRate()).isZero();

    double latency = latencyMillis(run.measures());
    assertThat(latency).isCloseTo(PUBLISHED_LATENCY_MILLIS, withinPercentage(3));
    assertThat(1e3 * IN_FLIGHT / latency)
        .isCloseTo(PUBLISHED_REQUESTS_PER_SECOND, withinPercentage(3));
  }

  private static double latencyMillis(Measures measures) {
    return IntStream.range(0, measures.requests())
        .mapToDouble(i -> measures.firstMillis(i) + (ANSWER - 1) * measures.tokenMillis(i))
        .average()
        .orElseThrow();
  }

  /** So many requests of each client, the next when the one before is answered. */
  private static Trace closedLoop(int each) {
    TraceBuilder trace = new TraceBuilder("closed", BLOCK);
    for (int i = 0; i < each * IN_FLIGHT; i++) {
      int before = i < IN_FLIGHT ? Trace.NONE : i - IN_FLIGHT;
      trace.request(0, before, i % IN_FLIGHT, PROMPT, ANSWER).blocks(i * PROMPT / BLOCK, 8);
    }
    return trace.build();
  }
}
