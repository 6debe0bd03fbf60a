package dev.warmpath.simulator.study;

import dev.warmpath.simulator.engine.StepCost;
import dev.warmpath.simulator.trace.LoggedRequest;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * A request as one engine served it. Times are milliseconds since 1970.
 *
 * <p>Single writer.
 */
final class Served {

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
