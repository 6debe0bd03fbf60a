package dev.warmpath.simulator.demo;

import dev.warmpath.simulator.study.Distribution;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;

/**
 * What a run of a load gave.
 *
 * @param requests sent in all
 * @param failures of these, not served to the end, by reason
 * @param hitRate share of prompt tokens that engines say they reused
 * @param firstTokenMillis time to the first token
 * @param tokenMillis mean time between two tokens of an answer, over the answers with at least two;
 *     NaN without any
 * @param perReplica requests served by each replica
 */
public record LoadReport(
    int requests,
    Map<String, Integer> failures,
    double hitRate,
    Distribution firstTokenMillis,
    double tokenMillis,
    Map<String, Integer> perReplica,
    Predictions prediction) {

  /** The router's predictions against what engines report: how many, too high, too low. */
  public record Predictions(int compared, int over, int under) {

    /** Both together. */
    public Predictions plus(Predictions other) {
      return new Predictions(compared + other.compared, over + other.over, under + other.under);
    }
  }

  public LoadReport {
    failures = Map.copyOf(failures);
    perReplica = Map.copyOf(perReplica);
  }

  /** Requests that were not served to the end. */
  public int errors() {
    return failures.values().stream().mapToInt(Integer::intValue).sum();
  }

  static LoadReport of(List<ChatReply> replies) {
    List<ChatReply> served = replies.stream().filter(reply -> reply.error() == null).toList();
    long prompt = served.stream().mapToLong(ChatReply::promptTokens).sum();
    long cached = served.stream().mapToLong(reply -> Math.max(0, reply.cachedTokens())).sum();
    Map<String, Integer> perReplica = new TreeMap<>();
    for (ChatReply reply : served) {
      perReplica.merge(reply.replica() == null ? "?" : reply.replica(), 1, Integer::sum);
    }
    Map<String, Integer> failures = new TreeMap<>();
    replies.stream()
        .flatMap(reply -> Stream.ofNullable(reply.error()))
        .forEach(error -> failures.merge(error, 1, Integer::sum));
    return new LoadReport(
        replies.size(),
        failures,
        prompt == 0 ? 0 : (double) cached / prompt,
        Distribution.of(values(served, ChatReply::firstTokenMillis)),
        Arrays.stream(values(served, ChatReply::tokenMillis)).average().orElse(Double.NaN),
        perReplica,
        compare(served));
  }

  private static Predictions compare(List<ChatReply> served) {
    int[] signs =
        served.stream()
            .filter(ChatReply::comparable)
            .mapToInt(reply -> Integer.compare(reply.predictedTokens(), reply.cachedTokens()))
            .toArray();
    int over = (int) Arrays.stream(signs).filter(sign -> sign > 0).count();
    int under = (int) Arrays.stream(signs).filter(sign -> sign < 0).count();
    return new Predictions(signs.length, over, under);
  }

  /** Those that there are. */
  private static double[] values(List<ChatReply> served, ToDoubleFunction<ChatReply> millis) {
    return served.stream().mapToDouble(millis).filter(value -> value >= 0).toArray();
  }
}
