package dev.warmpath.simulator.study;

import dev.warmpath.router.fleet.AnswerModel;
import dev.warmpath.simulator.engine.CostModel;
import dev.warmpath.simulator.engine.EngineConfig;
import dev.warmpath.simulator.engine.KvCacheConfig;
import dev.warmpath.simulator.engine.StepWork;
import dev.warmpath.simulator.fleet.FleetPlan;
import dev.warmpath.simulator.fleet.IndexMode;
import dev.warmpath.simulator.fleet.Measures;
import dev.warmpath.simulator.fleet.PolicySpec;
import dev.warmpath.simulator.fleet.VirtualFleet;
import dev.warmpath.simulator.fleet.Workload;
import dev.warmpath.simulator.trace.LoggedRequest;
import dev.warmpath.simulator.trace.Trace;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * How many replicas a workload needs for a goal: the smallest fleet, found by doubling and
 * bisection, whose 90th percentile of the time to first token is within it and that rejects no more
 * than one request in a hundred.
 *
 * <p>Thread-safe.
 */
public final class FleetSize {

  /**
   * What to find.
   *
   * @param ttftMillis the goal for the 90th percentile of the time to first token
   * @param growth how many times as fast requests arrive as recorded
   * @param kvTokens tokens that a replica's cache holds
   * @param mostReplicas where the search ends
   * @param seeds runs of each fleet, the mean of which counts
   */
  public record Goal(
      double ttftMillis,
      double growth,
      CostModel cost,
      long kvTokens,
      int mostReplicas,
      int seeds) {}

  /**
   * What was found.
   *
   * @param enough false if not even the largest fleet was; its figures are given then
   */
  public record Answer(String policy, int replicas, boolean enough, List<RunFigures> runs) {

    public Answer {
      runs = List.copyOf(runs);
    }
  }

  private static final double FILLING = 0.1;
  private static final int STEP_TOKENS = 8192;
  private static final int RUNNING_SEQUENCES = 256;
  private static final double MOST_REJECTED = 0.01;

  private final Trace trace;
  private final Goal goal;
  private final EngineConfig engine;

  public FleetSize(Trace trace, Goal goal) {
    this.trace = trace;
    this.goal = goal;
    int blockSize = trace.blockSizeTokens();
    KvCacheConfig cache =
        KvCacheConfig.fullAttention(blockSize, (int) Math.max(2, goal.kvTokens / blockSize));
    engine =
        new EngineConfig(
            cache, STEP_TOKENS, RUNNING_SEQUENCES, cache.maxSequenceTokens(), goal.cost);
  }

  /** The smallest fleet with a policy. */
  public Answer of(String policy) {
    int few = 0;
    Answer found = run(policy, 1);
    while (!found.enough && found.replicas < goal.mostReplicas) {
      few = found.replicas;
      found = run(policy, Math.min(2 * found.replicas, goal.mostReplicas));
    }
    while (found.enough && found.replicas - few > 1) {
      Answer middle = run(policy, (few + found.replicas) / 2);
      if (middle.enough) {
        found = middle;
      } else {
        few = middle.replicas;
      }
    }
    return found;
  }

  /**
   * Prefills that one decode needs: the time that an engine takes for the log's uncached prompt
   * tokens, against that for their answers where its memory is full of such.
   *
   * @return NaN if no record tells all of this
   */
  static double prefillRatio(List<LoggedRequest> log, Goal goal) {
    double prompts = 0;
    double answers = 0;
    for (LoggedRequest request : log) {
      LoggedRequest.Tokens tokens = request.tokens();
      if (request.isReplayable() && tokens.cached() >= 0 && tokens.answer() > 0) {
        for (int from = tokens.cached(); from < tokens.prompt(); from += STEP_TOKENS) {
          int chunk = Math.min(STEP_TOKENS, tokens.prompt() - from);
          prompts += goal.cost.stepMillis(StepWork.ofPrompt(chunk, from));
        }
        int context = tokens.prompt() + tokens.answer() / 2;
        int streams = (int) AnswerModel.streams(context, goal.kvTokens);
        double step = goal.cost.stepMillis(StepWork.ofAnswers(streams, context));
        answers += tokens.answer() * step / streams;
      }
    }
    return prompts / answers;
  }

  private Answer run(String policy, int replicas) {
    List<RunFigures> runs = new ArrayList<>();
    for (int seed = 1; seed <= goal.seeds; seed++) {
      FleetPlan plan =
          FleetPlan.of(replicas, engine, IndexMode.NOW, () -> PolicySpec.make(policy), seed);
      Workload workload = new Workload(trace, goal.growth, 1, seed);
      Measures measures = new VirtualFleet(plan, workload).run(arrivals -> {});
      Window window = Window.from(RunFigures.countedFromSeconds(measures, FILLING));
      runs.add(RunFigures.of(workload, measures, replicas, RunFigures.Goal.DEFAULT, window));
    }
    return new Answer(policy, replicas, isEnough(runs), runs);
  }

  private boolean isEnough(List<RunFigures> runs) {
    double p90 = mean(runs, run -> run.ttftMillis().p90());
    double rejected = mean(runs, run -> (double) run.rejected() / Math.max(1, run.requests()));
    return p90 <= goal.ttftMillis && rejected <= MOST_REJECTED;
  }

  static double mean(List<RunFigures> runs, ToDoubleFunction<RunFigures> figure) {
    return runs.stream().mapToDouble(figure).average().orElse(Double.NaN);
  }
}
