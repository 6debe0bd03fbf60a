package dev.warmpath.simulator.study;

import dev.warmpath.router.dispatch.UncachedTokens;
import dev.warmpath.router.dispatch.UncachedTokens.Cause;
import dev.warmpath.simulator.fleet.Measures;
import dev.warmpath.simulator.fleet.Workload;
import dev.warmpath.simulator.trace.Trace;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.DoubleStream;

/**
 * What one run comes to. Requests that arrive early find caches that fill, and may be left out.
 *
 * @param requests that were counted
 * @param ttftMillis time to first token
 * @param answerMillis time to the last token
 * @param tpotMillis mean time between two tokens of an answer, over requests
 * @param hitRate share of prompt tokens that the engines did not compute
 * @param hostHitRate share of prompt tokens that they loaded from host memory instead
 * @param loadMillis mean time that these were waited for, over all requests
 * @param goodput share of requests within the goal for both
 * @param imbalance most prompt tokens computed by one engine, over their mean
 * @param uncached by cause, the share of prompt tokens that were computed for it, of requests with
 *     a prediction
 * @param predictedMinusActual mean tokens by which the router's prediction was off
 * @param split share of requests whose prompt one engine computed and whose answer another one
 * @param rejected requests without an answer
 * @param sessionsPerSecond sessions whose every turn was answered, for each second from the begin
 *     of counting until the last session begins, of those that end in this time; 0 if they all
 *     begin at once
 * @param spanSeconds from the first arrival to the last first token
 * @param minutes around the change of a fleet; empty without one
 */
record RunFigures(
    int requests,
    Distribution ttftMillis,
    Distribution answerMillis,
    double tpotMillis,
    double hitRate,
    double hostHitRate,
    double loadMillis,
    double goodput,
    double imbalance,
    Map<Cause, Double> uncached,
    double predictedMinusActual,
    double split,
    int rejected,
    double sessionsPerSecond,
    double spanSeconds,
    List<Minute> minutes) {

  public RunFigures {
    uncached = Map.copyOf(uncached);
    minutes = List.copyOf(minutes);
  }

  /** What an answer should keep to, both at most. */
  public record Goal(double ttftMillis, double tpotMillis) {
    public static final Goal DEFAULT = new Goal(5000, 100);
  }

  /** When counting begins if the first {@code warmUp} share of the time is left out. */
  public static double countedFromSeconds(Measures measures, double warmUp) {
    double end = 0;
    for (int i = 0; i < measures.requests(); i++) {
      double at = measures.arrivedSeconds(i);
      end = Double.isNaN(at) ? end : Math.max(end, at);
    }
    return warmUp * end;
  }

  /** The figures of the requests that arrived in a window, of a run on so many engines. */
  public static RunFigures of(
      Workload workload, Measures measures, int engines, Goal goal, Window window) {
    return new Counting(engines, goal, window).count(workload, measures);
  }

  /** Adds up. */
  private static final class Counting {
    private final Goal goal;
    private final Window window;
    private final double[] computed;
    private double[] ttft = new double[256];
    private double[] answered = new double[256];
    private int split;
    private int served;
    private int rejected;
    private int good;
    private int answers;
    private double tpot;
    private long prompt;
    private long cached;
    private long host;
    private double load;
    private final Map<Cause, Double> uncached = new EnumMap<>(Cause.class);
    private long judged;
    private long off;
    private int predicted;
    private double lastSeconds;

    Counting(int engines, Goal goal, Window window) {
      this.goal = goal;
      this.window = window;
      computed = new double[engines];
    }

    RunFigures count(Workload workload, Measures measures) {
      for (int i = 0; i < measures.requests(); i++) {
        if (window.contains(measures.arrivedSeconds(i))) {
          add(measures, i);
        }
      }
      double most = Arrays.stream(computed).max().orElse(0);
      double mean = Arrays.stream(computed).average().orElse(1);
      return new RunFigures(
          served + rejected,
          Distribution.of(Arrays.copyOf(ttft, served)),
          Distribution.of(Arrays.copyOf(answered, served)),
          tpot / Math.max(1, answers),
          (double) cached / Math.max(1, prompt),
          (double) host / Math.max(1, prompt),
          load / Math.max(1, served),
          (double) good / Math.max(1, served + rejected),
          most / Math.max(1, mean),
          uncachedShares(),
          (double) off / Math.max(1, predicted),
          (double) split / Math.max(1, served),
          rejected,
          sessionsPerSecond(workload, measures),
          lastSeconds - window.fromSeconds(),
          Minute.of(measures, window));
    }

    private Map<Cause, Double> uncachedShares() {
      Map<Cause, Double> shares = new EnumMap<>(Cause.class);
      uncached.forEach((cause, tokens) -> shares.put(cause, tokens / judged));
      return shares;
    }

    private double sessionsPerSecond(Workload workload, Measures measures) {
      int[] begins = workload.firsts();
      double fromSeconds = window.fromSeconds();
      double last =
          Arrays.stream(begins)
              .mapToDouble(measures::arrivedSeconds)
              .filter(at -> !Double.isNaN(at))
              .max()
              .orElse(0);
      double until = Math.min(last, window.untilSeconds());
      int sessions = 0;
      for (int begin : begins) {
        int turn = begin;
        while (workload.next(turn) != Trace.NONE && measures.answeredMillis(turn) >= 0) {
          turn = workload.next(turn);
        }
        double ended = measures.arrivedSeconds(turn) + measures.answeredMillis(turn) / 1e3;
        sessions += ended >= fromSeconds && ended <= until ? 1 : 0;
      }
      return until > fromSeconds ? sessions / (until - fromSeconds) : 0;
    }

    private void add(Measures measures, int i) {
      if (measures.isRejected(i) || Double.isNaN(measures.firstMillis(i))) {
        rejected++;
        return;
      }
      if (served == ttft.length) {
        ttft = Arrays.copyOf(ttft, 2 * served);
        answered = Arrays.copyOf(answered, 2 * served);
      }
      double first = measures.firstMillis(i);
      double token = measures.tokenMillis(i);
      answered[served] = measures.answeredMillis(i);
      ttft[served++] = first;
      split += measures.isSplit(i) ? 1 : 0;
      if (token > 0) {
        tpot += token;
        answers++;
      }
      good += first <= goal.ttftMillis && !(token > goal.tpotMillis) ? 1 : 0;
      prompt += measures.promptTokens(i);
      cached += measures.cachedTokens(i);
      host += measures.hostTokens(i);
      UncachedTokens causes = measures.uncachedTokens(i);
      if (causes != null) {
        judged += measures.promptTokens(i);
        causes
            .byCause()
            .forEach((cause, tokens) -> uncached.merge(cause, (double) tokens, Double::sum));
      }
      load += measures.loadMillis(i);
      computed[measures.engine(i)] += measures.promptTokens(i) - measures.cachedTokens(i);
      if (measures.predictedTokens(i) >= 0) {
        off += measures.predictedTokens(i) - measures.cachedTokens(i);
        predicted++;
      }
      lastSeconds = Math.max(lastSeconds, measures.arrivedSeconds(i) + first / 1e3);
    }
  }

  /**
   * What arrived in one minute before or after a fleet's change.
   *
   * @param minute it begins so many minutes after the change
   * @param requests that were answered
   * @param ttftMillis time to first token; NaN of none
   * @param hitRate share of prompt tokens that the engines did not compute; NaN of none
   */
  record Minute(int minute, int requests, Distribution ttftMillis, double hitRate) {

    private static final int BEFORE = 5;
    private static final double SECONDS = 60;

    /**
     * The minutes of a window, and five before it as far as the run has them; empty without end.
     */
    static List<Minute> of(Measures measures, Window window) {
      List<Minute> minutes = new ArrayList<>();
      if (!window.ends()) {
        return minutes;
      }
      int first = (int) -Math.min(BEFORE, Math.floor(window.fromSeconds() / SECONDS));
      int count =
          (int) Math.round((window.untilSeconds() - window.fromSeconds()) / SECONDS) - first;
      List<Sums> sums = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        sums.add(new Sums());
      }
      for (int i = 0; i < measures.requests(); i++) {
        double at = (measures.arrivedSeconds(i) - window.fromSeconds()) / SECONDS;
        if (at >= first && at < first + count && !Double.isNaN(measures.firstMillis(i))) {
          sums.get((int) Math.floor(at) - first).add(measures, i);
        }
      }
      for (int i = 0; i < count; i++) {
        minutes.add(sums.get(i).minute(first + i));
      }
      return minutes;
    }

    /** Adds up one minute. */
    private static final class Sums {
      private final DoubleStream.Builder ttft = DoubleStream.builder();
      private double prompt;
      private double cached;

      void add(Measures measures, int request) {
        ttft.add(measures.firstMillis(request));
        prompt += measures.promptTokens(request);
        cached += measures.cachedTokens(request);
      }

      Minute minute(int minute) {
        double[] values = ttft.build().toArray();
        return new Minute(minute, values.length, Distribution.of(values), cached / prompt);
      }
    }
  }
}
