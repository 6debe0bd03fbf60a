package dev.warmpath.simulator.study;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * What the times of one engine's requests say about its speed.
 *
 * <p>Two equations come from each streamed answer. From its first token to its end the engine took
 * one step for each further token; what prompts it computed and what else it decoded in that time
 * is known from the other requests. From its dispatch to its first token the engine computed the
 * prompts in front of it and its own, in at least as many steps as there were different first
 * tokens.
 *
 * <p>Single writer.
 */
final class EngineEquations {

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
