package dev.warmpath.simulator.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.warmpath.router.routing.Policies;
import dev.warmpath.simulator.trace.Trace;
import dev.warmpath.simulator.trace.TraceBuilder;
import dev.warmpath.simulator.trace.TraceFile;
import dev.warmpath.simulator.trace.TraceFormat;
import java.nio.file.Path;
import java.util.DoubleSummaryStatistics;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.DoubleFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a router says of the load that its fleet could still bear, while it bears some. */
class KneeHeadroomTest {

  private static final int BLOCK = 64;
  private static final int REQUESTS = 4_500;
  private static final int WARM_UP = 2_048;
  private static final String TRACE = "warmpath.knee.trace";

  /** A mean time to first token, and the head-room meanwhile. */
  private record Run(double meanMillis, double headroom) {}

  @ParameterizedTest
  @ValueSource(ints = {4, 12})
  void itIsFoundWithinAFifth(int engines) {
    double knee = knee(rate -> run(engines, rate), 0.5, 2);
    for (double part : new double[] {0.3, 0.6, 0.9}) {
      assertThat(run(engines, part * knee).headroom)
          .as("at %.1f of the knee, %.2f prompts a second and engine", part, knee)
          .isEqualTo(1 - part, within(0.2));
    }
  }

  /**
   * The same of a recorded trace, and its figures; by properties {@code warmpath.knee.trace},
   * {@code .format}, {@code .requests}, {@code .tokens} of an engine's cache, {@code .engines} and
   * {@code .seeds}.
   */
  @Test
  @EnabledIfSystemProperty(named = TRACE, matches = ".+")
  void ofATraceItIsFoundWithinTheError() throws Exception {
    Trace trace =
        TraceFile.read(
            Path.of(System.getProperty(TRACE)),
            TraceFormat.valueOf(System.getProperty("warmpath.knee.format", "MOONCAKE")),
            Integer.getInteger("warmpath.knee.requests", Integer.MAX_VALUE));
    SoftAssertions errors = new SoftAssertions();
    for (int engines : numbers("engines", "4,8,16")) {
      FleetPlan plan =
          plan(
              engines,
              trace.blockSizeTokens(),
              Integer.getInteger("warmpath.knee.tokens", 500_000));
      for (int seed : numbers("seeds", "1,2,3")) {
        DoubleFunction<Run> runs = rate -> run(plan, new Workload(trace, rate, 1, seed, 3));
        double knee = knee(runs, 0.02 * engines, 0.5 * engines);
        for (double part : new double[] {0.3, 0.5, 0.7, 0.9, 1}) {
          Run run = runs.apply(part * knee);
          System.out.printf(
              "%d engines, seed %d, %.3f times as fast, %.1f of the knee: mean %.0f ms, "
                  + "head-room %.2f%n",
              engines, seed, part * knee, part, run.meanMillis, run.headroom);
          errors
              .assertThat(run.headroom)
              .as("%d engines, seed %d, at %.1f of the knee", engines, seed, part)
              .isEqualTo(1 - part, within(0.1));
        }
      }
    }
    errors.assertAll();
  }

  private static int[] numbers(String property, String byDefault) {
    return Stream.of(System.getProperty("warmpath.knee." + property, byDefault).split(","))
        .mapToInt(Integer::parseInt)
        .toArray();
  }

  /** The highest rate between these at which the mean is at most four times that when idle. */
  private static double knee(DoubleFunction<Run> runs, double least, double most) {
    double idle = runs.apply(0.001).meanMillis;
    double knee = least;
    double beyond = most;
    for (int i = 0; i < 5; i++) {
      double middle = Math.sqrt(knee * beyond);
      if (runs.apply(middle).meanMillis <= 4 * idle) {
        knee = middle;
      } else {
        beyond = middle;
      }
    }
    return knee;
  }

  private static FleetPlan plan(int engines, int blockSize, int tokens) {
    return FleetPlan.of(
        engines,
        Runs.engine(blockSize, tokens / blockSize),
        IndexMode.NOW,
        () -> Policies.named("warm", Map.of()),
        1);
  }

  /** Prompts that share nothing, at so many a second and engine. */
  private static Run run(int engines, double rate) {
    return run(plan(engines, BLOCK, 512_000), new Workload(prompts(rate * engines), 1, 1, 1));
  }

  /** With the mean of the head-room over the middle of the run. */
  private static Run run(FleetPlan plan, Workload workload) {
    VirtualFleet fleet = new VirtualFleet(plan, workload);
    DoubleSummaryStatistics headroom = new DoubleSummaryStatistics();
    Measures measures =
        fleet.run(arrivals -> {
          if (arrivals > WARM_UP && arrivals < workload.requests() - WARM_UP / 2) {
            headroom.accept(fleet.kneeHeadroom());
          }
        });
    double mean =
        IntStream.range(0, measures.requests())
            .mapToDouble(measures::firstMillis)
            .filter(millis -> !Double.isNaN(millis))
            .average()
            .orElseThrow();
    return new Run(mean, headroom.getAverage());
  }

  private static Trace prompts(double rate) {
    SplittableRandom random = new SplittableRandom(3);
    TraceBuilder trace = new TraceBuilder("prompts", BLOCK);
    double seconds = 0;
    for (int i = 0; i < REQUESTS; i++) {
      seconds -= Math.log(1 - random.nextDouble()) / rate;
      int blocks = 20 + (int) (-150 * Math.log(1 - random.nextDouble()));
      trace.request(seconds, Trace.NONE, i, BLOCK * blocks, 20);
      trace.blocks(10_000 * i, blocks);
    }
    return trace.build();
  }
}
