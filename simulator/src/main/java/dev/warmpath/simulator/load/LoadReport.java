package dev.warmpath.simulator.load;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a run of a load gave.
 *
 * <p>Immutable.
 *
 * @param requests sent in all
 * @param errors of these, not served to the end
 * @param hitRate share of prompt tokens that engines say they reused
 * @param perReplica requests served by each replica
 */
public record LoadReport(
    int requests,
    int errors,
    double hitRate,
    FirstToken firstToken,
    Map<String, Integer> perReplica,
    Comparison prediction) {

  /** Time to the first token, in milliseconds. */
  public record FirstToken(double p50Millis, double p99Millis) {}

  /** The router's predictions against what engines report: how many, too high, too low. */
  public record Comparison(int compared, int over, int under) {

    /** Both together. */
    public Comparison plus(Comparison other) {
      return new Comparison(compared + other.compared, over + other.over, under + other.under);
    }
  }

  public LoadReport {
    perReplica = Map.copyOf(perReplica);
  }

  static LoadReport of(List<ChatReply> replies) {
    List<ChatReply> served = replies.stream().filter(reply -> reply.error() == null).toList();
    long prompt = served.stream().mapToLong(ChatReply::promptTokens).sum();
    long cached = served.stream().mapToLong(reply -> Math.max(0, reply.cachedTokens())).sum();
    Map<String, Integer> perReplica = new TreeMap<>();
    for (ChatReply reply : served) {
      perReplica.merge(reply.replica() == null ? "?" : reply.replica(), 1, Integer::sum);
    }
    double[] millis = served.stream().mapToDouble(ChatReply::firstTokenMillis).sorted().toArray();
    return new LoadReport(
        replies.size(),
        replies.size() - served.size(),
        prompt == 0 ? 0 : (double) cached / prompt,
        new FirstToken(quantile(millis, 0.5), quantile(millis, 0.99)),
        perReplica,
        compare(served));
  }

  private static Comparison compare(List<ChatReply> served) {
    int[] signs =
        served.stream()
            .filter(ChatReply::comparable)
            .mapToInt(reply -> Integer.compare(reply.predictedTokens(), reply.cachedTokens()))
            .toArray();
    int over = (int) Arrays.stream(signs).filter(sign -> sign > 0).count();
    int under = (int) Arrays.stream(signs).filter(sign -> sign < 0).count();
    return new Comparison(signs.length, over, under);
  }

  private static double quantile(double[] sorted, double share) {
    if (sorted.length == 0) {
      return 0;
    }
    return sorted[Math.min(sorted.length - 1, (int) Math.ceil(share * sorted.length) - 1)];
  }
}
