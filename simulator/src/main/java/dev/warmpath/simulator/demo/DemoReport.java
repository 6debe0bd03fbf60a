package dev.warmpath.simulator.demo;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.simulator.demo.LoadReport.Predictions;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The demo's figures, policy by policy.
 *
 * <p>Immutable.
 */
public final class DemoReport {

  private final Map<String, LoadReport> policies;

  DemoReport(Map<String, LoadReport> policies) {
    this.policies = new LinkedHashMap<>(policies);
  }

  /** Requests that were not served, under all policies. */
  public int errors() {
    return policies.values().stream().mapToInt(LoadReport::errors).sum();
  }

  /** The figures of one policy. */
  public LoadReport of(String policy) {
    LoadReport report = policies.get(policy);
    if (report == null) {
      throw new IllegalArgumentException("policy=" + policy);
    }
    return report;
  }

  /** The router's predictions under all policies against what the engines reported. */
  public Predictions prediction() {
    return policies.values().stream()
        .map(LoadReport::prediction)
        .reduce(new Predictions(0, 0, 0), Predictions::plus);
  }

  /** The figures as one JSON object. */
  public String json() {
    ObjectNode root = JsonNodeFactory.instance.objectNode();
    ObjectNode byPolicy = root.putObject("policies");
    policies.forEach((name, report) -> put(byPolicy.putObject(name), report));
    put(root.putObject("prediction"), prediction());
    return root.toString();
  }

  /** The figures for people. */
  public String table() {
    StringBuilder table = new StringBuilder();
    line(table, "policy", "hit rate", "TTFT p50", "TTFT p99", "errors", "wrong predictions");
    policies.forEach((name, report) -> line(table, name, report));
    table.append(System.lineSeparator()).append("requests per replica").append('\n');
    policies.forEach((name, report) ->
        table.append(
            String.format(Locale.ROOT, "  %-12s %s%n", name, perReplica(report.perReplica()))));
    return table.toString();
  }

  private static void put(ObjectNode to, LoadReport report) {
    to.put("hitRate", round(report.hitRate(), 4));
    to.put("ttftMsP50", round(report.firstTokenMillis().p50(), 1));
    to.put("ttftMsP99", round(report.firstTokenMillis().p99(), 1));
    to.put("requests", report.requests());
    to.put("errors", report.errors());
    ObjectNode replicas = to.putObject("requestsPerReplica");
    new TreeMap<>(report.perReplica()).forEach(replicas::put);
    put(to.putObject("prediction"), report.prediction());
  }

  private static void put(ObjectNode to, Predictions prediction) {
    to.put("compared", prediction.compared());
    to.put("over", prediction.over());
    to.put("under", prediction.under());
  }

  private static void line(StringBuilder table, String name, LoadReport report) {
    Predictions prediction = report.prediction();
    line(
        table,
        name,
        String.format(Locale.ROOT, "%.1f %%", 100 * report.hitRate()),
        String.format(Locale.ROOT, "%.0f ms", report.firstTokenMillis().p50()),
        String.format(Locale.ROOT, "%.0f ms", report.firstTokenMillis().p99()),
        Integer.toString(report.errors()),
        "%d over, %d under, of %d"
            .formatted(prediction.over(), prediction.under(), prediction.compared()));
  }

  private static void line(StringBuilder table, Object... cells) {
    table.append(String.format(Locale.ROOT, "%-14s %9s %10s %10s %7s  %s%n", cells));
  }

  private static String perReplica(Map<String, Integer> counts) {
    return new TreeMap<>(counts)
        .entrySet().stream()
            .map(entry -> entry.getKey() + " " + entry.getValue())
            .collect(Collectors.joining(", "));
  }

  private static double round(double value, int digits) {
    double scale = Math.pow(10, digits);
    return Math.round(value * scale) / scale;
  }
}
