package dev.warmpath.simulator.study;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.simulator.study.FleetSize.Answer;
import dev.warmpath.simulator.trace.LoggedRequest;
import dev.warmpath.simulator.trace.Trace;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/**
 * What a plan found out, as text and as JSON.
 *
 * @param requests of the log that are replayed
 * @param leftOut others
 * @param spanSeconds in which those arrive that wait for no other
 * @param measured time to first token of the log's streams
 * @param prefillRatio prefills that one decode needs; NaN if no request shows it
 */
public record PlanReport(
    int requests,
    int leftOut,
    double spanSeconds,
    Spread measured,
    double prefillRatio,
    FleetSize.Goal goal,
    List<Answer> answers) {

  /** Milliseconds; NaN where there is nothing to measure. */
  public record Spread(double mean, double p90, double p99) {}

  public PlanReport {
    answers = List.copyOf(answers);
  }

  public static PlanReport of(
      Trace trace, List<LoggedRequest> log, FleetSize.Goal goal, List<Answer> answers) {
    return new PlanReport(
        trace.requests(),
        log.size() - trace.requests(),
        trace.spanSeconds(),
        measured(log),
        FleetSize.prefillRatio(log, goal),
        goal,
        answers);
  }

  private static Spread measured(List<LoggedRequest> log) {
    double[] ttft =
        log.stream()
            .mapToDouble(request -> request.times().firstToken())
            .filter(millis -> millis >= 0)
            .sorted()
            .toArray();
    if (ttft.length == 0) {
      return new Spread(Double.NaN, Double.NaN, Double.NaN);
    }
    return new Spread(
        Arrays.stream(ttft).average().orElse(Double.NaN),
        ttft[(int) (0.9 * ttft.length)],
        ttft[(int) (0.99 * ttft.length)]);
  }

  public String text() {
    StringBuilder text = new StringBuilder();
    text.append(
        String.format(
            Locale.ROOT,
            "%,d requests, first ones in %.0f s; %,d others left out%n",
            requests,
            spanSeconds,
            leftOut));
    if (!Double.isNaN(measured.mean)) {
      text.append(
          String.format(
              Locale.ROOT,
              "as logged: TTFT mean %.0f ms, p90 %.0f ms, p99 %.0f ms%n",
              measured.mean,
              measured.p90,
              measured.p99));
    }
    text.append(
        String.format(
            Locale.ROOT,
            "goal: TTFT p90 at most %.0f ms, traffic × %.3g, %,d tokens a replica%n%n",
            goal.ttftMillis(),
            goal.growth(),
            goal.kvTokens()));
    text.append(
        String.format(
            Locale.ROOT,
            "%-32s %8s %9s %8s %8s %7s %6s %8s%n",
            "policy",
            "replicas",
            "TTFT ms",
            "p90",
            "p99",
            "TPOT",
            "hits",
            "rejected"));
    answers.forEach(answer -> text.append(row(answer)));
    if (!Double.isNaN(prefillRatio)) {
      text.append(
          String.format(
              Locale.ROOT,
              "%nin pairs: %.1f prefills to a decode%s%n",
              prefillRatio,
              answers.stream()
                  .filter(answer -> answer.replicas() > 1)
                  .map(answer -> ", %d of %d".formatted(prefills(answer), answer.replicas()))
                  .distinct()
                  .collect(Collectors.joining())));
    }
    return text.toString();
  }

  /** How many of its replicas should be prefills, if they are not to do both. */
  private long prefills(Answer answer) {
    long share = Math.round(prefillRatio / (1 + prefillRatio) * answer.replicas());
    return Math.max(1, Math.min(share, answer.replicas() - 1));
  }

  private static String row(Answer answer) {
    return String.format(
        Locale.ROOT,
        "%-32s %8s %9.0f %8.0f %8.0f %7.1f %6.3f %8.0f%n",
        answer.policy(),
        (answer.enough() ? "" : "> ") + answer.replicas(),
        mean(answer, run -> run.ttftMillis().mean()),
        mean(answer, run -> run.ttftMillis().p90()),
        mean(answer, run -> run.ttftMillis().p99()),
        mean(answer, RunFigures::tpotMillis),
        mean(answer, RunFigures::hitRate),
        mean(answer, RunFigures::rejected));
  }

  private static double mean(Answer answer, ToDoubleFunction<RunFigures> figure) {
    return FleetSize.mean(answer.runs(), figure);
  }

  /** One JSON object. */
  public ObjectNode json() {
    ObjectNode json = new ObjectMapper().createObjectNode();
    json.put("requests", requests).put("leftOut", leftOut).put("spanSeconds", spanSeconds);
    if (!Double.isNaN(measured.mean)) {
      json.putObject("measuredTtftMs")
          .put("mean", measured.mean)
          .put("p90", measured.p90)
          .put("p99", measured.p99);
    }
    if (!Double.isNaN(prefillRatio)) {
      json.put("prefillRatio", prefillRatio);
    }
    json.put("goalTtftMs", goal.ttftMillis());
    json.put("growth", goal.growth()).put("kvTokens", goal.kvTokens()).put("seeds", goal.seeds());
    ArrayNode policies = json.putArray("policies");
    for (Answer answer : answers) {
      ObjectNode policy = policies.addObject();
      policy.put("policy", answer.policy());
      policy.put("replicas", answer.replicas()).put("enough", answer.enough());
      policy
          .putObject("ttftMs")
          .put("mean", mean(answer, run -> run.ttftMillis().mean()))
          .put("p90", mean(answer, run -> run.ttftMillis().p90()))
          .put("p99", mean(answer, run -> run.ttftMillis().p99()));
      policy.put("tpotMs", mean(answer, RunFigures::tpotMillis));
      policy.put("hitRate", mean(answer, RunFigures::hitRate));
      policy.put("rejected", mean(answer, RunFigures::rejected));
    }
    return json;
  }
}
