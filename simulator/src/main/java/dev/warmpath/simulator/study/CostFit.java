package dev.warmpath.simulator.study;

import dev.warmpath.simulator.engine.StepCost;
import dev.warmpath.simulator.trace.LoggedRequest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * An engine's speed, as a decision log shows it.
 *
 * @param engines whose requests were used
 * @param fitted requests that the cost was fitted to
 * @param heldOut others, on which the errors were measured
 * @param ttftError median relative error, without its sign, of the time from dispatch to first
 *     token
 * @param decodeError the same of the time from there to the end
 */
public record CostFit(
    StepCost cost, int engines, int fitted, int heldOut, double ttftError, double decodeError) {

  /** Streamed answers without which nothing is fitted. */
  public static final int LEAST_REQUESTS = 50;

  private static final int HELD_OUT = 5;

  /**
   * Fits the cost of engines that are alike.
   *
   * @param stepTokens prompt tokens that a step computes at most
   * @throws IllegalArgumentException if the log has too few streamed answers, saying how many
   */
  public static CostFit of(List<LoggedRequest> log, int stepTokens) {
    Map<String, List<LoggedRequest>> byEngine =
        log.stream()
            .filter(request -> request.engine() != null)
            .collect(
                Collectors.groupingBy(
                    request -> Objects.requireNonNull(request.engine()),
                    TreeMap::new,
                    Collectors.toList()));
    List<EngineEquations.Pair> pairs = new ArrayList<>();
    for (List<LoggedRequest> requests : byEngine.values()) {
      for (EngineEquations.Pair pair : new EngineEquations(Served.of(requests), stepTokens).all()) {
        if (pair.prefill().isSound()) {
          pairs.add(pair);
        }
      }
    }
    if (pairs.size() < LEAST_REQUESTS) {
      throw new IllegalArgumentException(
          "%d streamed answers with known lengths, at least %d are needed"
              .formatted(pairs.size(), LEAST_REQUESTS));
    }
    return fitted(pairs, byEngine.size());
  }

  private static CostFit fitted(List<EngineEquations.Pair> pairs, int engines) {
    List<Equation> equations = new ArrayList<>();
    List<EngineEquations.Pair> others = new ArrayList<>();
    for (int i = 0; i < pairs.size(); i++) {
      EngineEquations.Pair pair = pairs.get(i);
      if (i % HELD_OUT == 0) {
        others.add(pair);
        continue;
      }
      equations.add(pair.prefill());
      if (pair.decode().isSound()) {
        equations.add(pair.decode());
      }
    }
    StepCost cost = LeastErrors.of(equations);
    List<Equation> decodes =
        others.stream().map(EngineEquations.Pair::decode).filter(Equation::isSound).toList();
    return new CostFit(
        cost,
        engines,
        pairs.size() - others.size(),
        others.size(),
        medianError(cost, others.stream().map(EngineEquations.Pair::prefill).toList()),
        medianError(cost, decodes));
  }

  private static double medianError(StepCost cost, List<Equation> equations) {
    return Spread.of(
            equations.stream()
                .mapToDouble(row -> Math.abs(row.millis(cost) / row.millis() - 1))
                .toArray())
        .median();
  }

  /**
   * What the times of one engine's requests say about its speed.
   *
   * <p>Two equations come from each streamed answer. From its first token to its end the engine
   * took one step for each further token; what prompts it computed and what else it decoded in that
   * time is known from the other requests. From its dispatch to its first token the engine computed
   * the prompts in front of it and its own, in at least as many steps as there were different first
   * tokens.
   *
   * <p>Single writer.
   */
  private static final class EngineEquations {

    /** First tokens that are this close came of the same step. */
    private static final double SAME_STEP_MILLIS = 2;

    private final List<Served> requests;
    private final int stepTokens;

    /**
     * @param requests of one engine, in the order in which they were sent
     * @param stepTokens prompt tokens that a step computes at most
     */
    EngineEquations(List<Served> requests, int stepTokens) {
      this.requests = requests;
      this.stepTokens = stepTokens;
    }

    /** The equations of a request. */
    record Pair(Equation prefill, Equation decode) {}

    /** Those of all requests that tell something, in order. */
    List<Pair> all() {
      List<Pair> equations = new ArrayList<>();
      List<Served> open = new ArrayList<>();
      for (int i = 0; i < requests.size(); i++) {
        Served request = requests.get(i);
        open.removeIf(other -> other.end <= request.dispatch);
        if (request.telling) {
          List<Served> beside = new ArrayList<>(open);
          for (int j = i + 1; j < requests.size() && requests.get(j).dispatch < request.end; j++) {
            beside.add(requests.get(j));
          }
          equations.add(new Pair(prefill(request, beside), decode(request, beside)));
        }
        open.add(request);
      }
      return equations;
    }

    private static Equation decode(Served request, List<Served> beside) {
      int steps = request.answer - 1;
      double tokens = 0;
      double pairs = 0;
      double context = steps * (request.prompt + request.answer / 2.0);
      for (Served other : beside) {
        double share = other.prefillShare(request.first, request.end);
        tokens += share * other.uncached;
        pairs += share * other.pairs;
        context += commonSteps(request, other) * other.contextTokens(request.first, request.end);
      }
      return new Equation(steps, tokens, pairs, context, request.end - request.first);
    }

    /** Steps in which both decoded: exact if one of them did from beginning to end. */
    private static double commonSteps(Served one, Served other) {
      double ofOne = one.decodeShare(other.first, other.end);
      double ofOther = other.decodeShare(one.first, one.end);
      double byOne = ofOne * (one.answer - 1);
      double byOther = ofOther * (other.answer - 1);
      if (ofOne >= 1) {
        return byOne;
      }
      return ofOther >= 1 ? byOther : (byOne + byOther) / 2;
    }

    private Equation prefill(Served request, List<Served> beside) {
      double from = request.dispatch;
      double to = request.first;
      List<Served> computed = new ArrayList<>();
      computed.add(request);
      double context = 0;
      for (Served other : beside) {
        if (other.first > from && other.first <= to + SAME_STEP_MILLIS && other.dispatch < to) {
          computed.add(other);
        }
        double share = Math.max(0, Math.min(other.end, to) - Math.max(other.first, from));
        context += to <= from ? 0 : share / (to - from) * other.contextTokens(from, to);
      }
      Work work = work(computed, from);
      boolean decoding = beside.stream().anyMatch(other -> other.first <= from && other.end > from);
      double steps = work.steps + (decoding && !work.underWay ? 0.5 : 0);
      return new Equation(steps, work.tokens, work.pairs, context * steps, to - from);
    }

    /**
     * Prompt work.
     *
     * @param underWay whether some of it had begun before
     */
    private record Work(double steps, double tokens, double pairs, boolean underWay) {}

    /** The work for these prompts from a time on; those with the same first token share steps. */
    private Work work(List<Served> prompts, double from) {
      prompts.sort(Comparator.comparingDouble(prompt -> prompt.first));
      double steps = 0;
      double tokens = 0;
      double pairs = 0;
      boolean underWay = false;
      for (int i = 0; i < prompts.size(); ) {
        double until = prompts.get(i).first + SAME_STEP_MILLIS;
        double ofGroup = 0;
        double left = 1;
        for (; i < prompts.size() && prompts.get(i).first <= until; i++) {
          Served prompt = prompts.get(i);
          boolean begun = prompt.start < from;
          double share = begun ? prompt.prefillShare(from, prompt.first) : 1;
          underWay |= begun;
          left = Math.min(left, share);
          ofGroup += share * prompt.uncached;
          tokens += share * prompt.uncached;
          pairs += share * prompt.pairs;
        }
        steps += Math.max(left, Math.ceil(ofGroup / stepTokens) - 1 + left);
      }
      return new Work(steps, tokens, pairs, underWay);
    }
  }

  /**
   * A time that an engine took, and the work that it did in it: {@code millis = base·steps +
   * token·tokens + pair·pairs + context·contextTokens}.
   *
   * @param contextTokens tokens in front of those decoded, summed over steps and sequences
   */
  record Equation(double steps, double tokens, double pairs, double contextTokens, double millis) {

    static final int UNKNOWNS = 4;

    double coefficient(int unknown) {
      return switch (unknown) {
        case 0 -> steps;
        case 1 -> tokens;
        case 2 -> pairs;
        default -> contextTokens;
      };
    }

    /** The time that an engine of this cost takes. */
    double millis(StepCost cost) {
      return cost.baseMillis() * steps
          + cost.prefillTokenMillis() * tokens
          + cost.attentionMillis() * pairs
          + cost.decodeContextMillis() * contextTokens;
    }

    /** Whether it can be used. */
    boolean isSound() {
      return millis > 0 && steps > 0 && Double.isFinite(tokens + pairs + contextTokens);
    }
  }

  /**
   * Finds the cost with the least sum of relative errors, none of its numbers negative.
   *
   * <p>Sums of errors, not of squares, are made small, so that a few requests with a story of their
   * own (a pause, a preemption, a slow client) do not count more than others.
   */
  static final class LeastErrors {

    /*
     * Iteratively reweighted least squares: a row's weight is 1 over its relative error. With four
     * unknowns, that none be negative is had by trying all sets of unknowns that may differ from 0.
     */

    private static final int ROUNDS = 40;
    private static final double LEAST_ERROR = 1e-3;

    private LeastErrors() {}

    static StepCost of(List<CostFit.Equation> equations) {
      double[] weights = new double[equations.size()];
      Arrays.fill(weights, 1);
      double[] found = new double[CostFit.Equation.UNKNOWNS];
      for (int round = 0; round < ROUNDS; round++) {
        found = leastSquares(equations, weights);
        for (int row = 0; row < weights.length; row++) {
          weights[row] = 1 / Math.max(LEAST_ERROR, Math.abs(error(equations.get(row), found)));
        }
      }
      return new StepCost(found[0], found[1], found[2], found[3]);
    }

    private static double error(CostFit.Equation row, double[] values) {
      double millis = 0;
      for (int i = 0; i < values.length; i++) {
        millis += row.coefficient(i) * values[i];
      }
      return millis / row.millis() - 1;
    }

    private static double[] leastSquares(List<CostFit.Equation> equations, double[] weights) {
      double[] best = new double[CostFit.Equation.UNKNOWNS];
      double least = Double.POSITIVE_INFINITY;
      for (int set = 1; set < 1 << CostFit.Equation.UNKNOWNS; set++) {
        double[] values = solved(equations, weights, set);
        double sum = 0;
        for (int row = 0; row < weights.length && sum < least; row++) {
          double error = error(equations.get(row), values);
          sum += weights[row] * error * error;
        }
        if (sum < least && Arrays.stream(values).allMatch(value -> value >= 0)) {
          least = sum;
          best = values;
        }
      }
      return best;
    }

    /** The least squares with the unknowns of a set, the others being 0. */
    private static double[] solved(List<CostFit.Equation> equations, double[] weights, int set) {
      int n = CostFit.Equation.UNKNOWNS;
      double[][] matrix = new double[n][n + 1];
      for (int row = 0; row < weights.length; row++) {
        CostFit.Equation equation = equations.get(row);
        for (int i = 0; i < n; i++) {
          double part = weights[row] * coefficient(equation, i, set);
          for (int j = 0; j < n; j++) {
            matrix[i][j] += part * coefficient(equation, j, set);
          }
          matrix[i][n] += part;
        }
      }
      return eliminated(matrix);
    }

    /** Relative to the row's time. */
    private static double coefficient(CostFit.Equation equation, int unknown, int set) {
      return (set >>> unknown & 1) == 0 ? 0 : equation.coefficient(unknown) / equation.millis();
    }

    /** Solves by elimination; an unknown that nothing depends on is 0. */
    private static double[] eliminated(double[][] matrix) {
      int n = matrix.length;
      double[] diagonal = new double[n];
      for (int i = 0; i < n; i++) {
        diagonal[i] = matrix[i][i];
      }
      for (int i = 0; i < n; i++) {
        if (matrix[i][i] <= 1e-12 * diagonal[i] || diagonal[i] == 0) {
          Arrays.fill(matrix[i], 0);
          continue;
        }
        for (int row = 0; row < n; row++) {
          double factor = row == i ? 0 : matrix[row][i] / matrix[i][i];
          for (int column = i; factor != 0 && column <= n; column++) {
            matrix[row][column] -= factor * matrix[i][column];
          }
        }
      }
      double[] values = new double[n];
      for (int i = 0; i < n; i++) {
        values[i] = matrix[i][i] == 0 ? 0 : matrix[i][n] / matrix[i][i];
      }
      return values;
    }
  }

  /**
   * A request as one engine served it. Times are milliseconds since 1970.
   *
   * <p>Single writer.
   */
  private static final class Served {

    /** Tells the parts of an answer of which only the end was seen; no more than a rough guess. */
    private static final StepCost TYPICAL = StepCost.H100X4;

    final double dispatch;
    final double first;
    final double end;
    final int uncached;
    final double pairs;
    final int prompt;
    final int answer;

    /**
     * Whether it says something of the engine's speed: its first token was seen, lengths are known.
     */
    final boolean telling;

    /** When its prompt's turn came, as prompts are computed one after another. */
    double start;

    private Served(LoggedRequest request) {
      LoggedRequest.Tokens tokens = request.tokens();
      LoggedRequest.Times times = request.times();
      prompt = tokens.prompt();
      answer = tokens.answer();
      int cached = Math.max(0, tokens.cached());
      uncached = Math.max(1, prompt - cached);
      pairs = uncached * (prompt - uncached / 2.0);
      dispatch = request.arrivedMillis() + times.dispatch();
      end = request.arrivedMillis() + times.total();
      boolean streamed = times.firstToken() >= times.dispatch();
      first = streamed ? request.arrivedMillis() + times.firstToken() : guessedFirst();
      start = dispatch;
      telling =
          streamed
              && tokens.cached() != LoggedRequest.UNKNOWN
              && request.outcome().equals(LoggedRequest.COMPLETED);
    }

    private double guessedFirst() {
      double prefill = TYPICAL.prefillTokenMillis() * uncached + TYPICAL.attentionMillis() * pairs;
      double decode = TYPICAL.baseMillis() * answer;
      return dispatch + (end - dispatch) * prefill / (prefill + decode);
    }

    /** The requests of one engine's log, in the order in which they were sent. */
    static List<Served> of(List<LoggedRequest> log) {
      List<Served> all = new ArrayList<>();
      for (LoggedRequest request : log) {
        if (request.isReplayable() && request.times().dispatch() <= request.times().total()) {
          all.add(new Served(request));
        }
      }
      all.sort(Comparator.comparingDouble(request -> request.dispatch));
      double before = Double.NEGATIVE_INFINITY;
      for (Served request : all) {
        request.start =
            before < request.first ? Math.max(request.dispatch, before) : request.dispatch;
        before = Math.max(before, request.first);
      }
      return all;
    }

    /** Its share of prompt work in a time, 0 to 1. */
    double prefillShare(double from, double to) {
      if (first <= start) {
        return first > from && first <= to ? 1 : 0;
      }
      return Math.max(0, Math.min(first, to) - Math.max(start, from)) / (first - start);
    }

    /** Its share of decoding in a time, 0 to 1. */
    double decodeShare(double from, double to) {
      return end <= first
          ? 0
          : Math.max(0, Math.min(end, to) - Math.max(first, from)) / (end - first);
    }

    /** Tokens in front of what it decodes, in the middle of a time. */
    double contextTokens(double from, double to) {
      double middle = (Math.max(first, from) + Math.min(end, to)) / 2;
      return prompt + answer * (end <= first ? 0 : (middle - first) / (end - first));
    }
  }
}
