package dev.warmpath.lab.chaos;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.lab.chaos.ChaosEngine.EngineFault;
import dev.warmpath.lab.chaos.ChaosPlan.Phase;
import dev.warmpath.lab.chaos.Classifier.ChaosVerdict;
import dev.warmpath.lab.chaos.Classifier.ChaosVerdict.Kind;
import dev.warmpath.simulator.study.Distribution;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * Counts what a run brought.
 *
 * <p>Thread-safe.
 */
final class ChaosReport {

  private final ChaosPlan plan;
  private final Map<Phase, Map<Kind, Integer>> counts = new EnumMap<>(Phase.class);
  private final Map<Phase, List<Double>> firstBytes = new EnumMap<>(Phase.class);
  private final Map<String, Integer> details = new TreeMap<>();
  private final Map<EngineFault, Integer> faults = new EnumMap<>(EngineFault.class);
  private int leaked;
  private int lost;
  private long recoveryMillis;

  ChaosReport(ChaosPlan plan) {
    this.plan = plan;
  }

  /**
   * @param timed whether its first byte counts
   */
  synchronized void add(Phase phase, boolean timed, ChaosVerdict verdict) {
    counts
        .computeIfAbsent(phase, p -> new EnumMap<>(Kind.class))
        .merge(verdict.kind(), 1, Integer::sum);
    if (verdict.kind() == Kind.COMPLETED && timed) {
      firstBytes.computeIfAbsent(phase, p -> new ArrayList<>()).add(verdict.firstByteMillis());
    } else if (verdict.kind() == Kind.REFUSED || verdict.kind() == Kind.CLEAR_ERROR) {
      details.merge(verdict.detail(), 1, Integer::sum);
    }
  }

  synchronized void begun(Map<EngineFault, Integer> more) {
    more.forEach((fault, count) -> faults.merge(fault, count, Integer::sum));
  }

  /** So many gauges did not go back to 0. */
  synchronized void leaked(int gauges) {
    leaked = gauges;
  }

  /**
   * The load is over and all faults are healed.
   *
   * @param engines that gave no right answer any more
   * @param millis until the last of the others gave one
   */
  synchronized void recovered(int engines, long millis) {
    lost = engines;
    recoveryMillis = millis;
  }

  /** Whether nothing hung, leaked or was wrong, and every engine serves again. */
  synchronized boolean passed() {
    return count(Kind.HUNG) + count(Kind.WRONG) + leaked + lost == 0;
  }

  /** Requests that ended so, over all phases. */
  synchronized int count(Kind kind) {
    return counts.values().stream().mapToInt(kinds -> kinds.getOrDefault(kind, 0)).sum();
  }

  /** The figures, into {@code root}. */
  synchronized void json(ObjectNode root) {
    int requests = 0;
    for (Kind kind : Kind.values()) {
      requests += count(kind);
    }
    root.put("requests", requests)
        .put("completed", count(Kind.COMPLETED))
        .put("refused", count(Kind.REFUSED))
        .put("clearErrors", count(Kind.CLEAR_ERROR))
        .put("left", count(Kind.LEFT))
        .put("hung", count(Kind.HUNG))
        .put("leaked", leaked)
        .put("wrong", count(Kind.WRONG))
        .put("enginesLost", lost)
        .put("recoveryMs", recoveryMillis)
        .put("seconds", plan.seconds())
        .put("seed", plan.seed())
        .put("capacityPerSecond", rounded(plan.capacityPerSecond()));
    for (Phase phase : List.of(Phase.CALM, Phase.OVERLOAD, Phase.CHAOS)) {
      phase(root.putObject(phase.name().toLowerCase(Locale.ROOT)), phase);
    }
    ObjectNode begun = root.putObject("faults");
    faults.forEach((fault, count) -> begun.put(fault.name().toLowerCase(Locale.ROOT), count));
    ObjectNode reasons = root.putObject("errors");
    details.forEach(reasons::put);
  }

  /** The figures for people. */
  synchronized String table() {
    StringBuilder table = new StringBuilder();
    line(
        table,
        "",
        "completed",
        "refused",
        "errors",
        "left",
        "hung",
        "wrong",
        "first byte p50, p99");
    counts.forEach((phase, kinds) ->
        line(
            table,
            phase.name().toLowerCase(Locale.ROOT).replace('_', '-'),
            kinds.getOrDefault(Kind.COMPLETED, 0),
            kinds.getOrDefault(Kind.REFUSED, 0),
            kinds.getOrDefault(Kind.CLEAR_ERROR, 0),
            kinds.getOrDefault(Kind.LEFT, 0),
            kinds.getOrDefault(Kind.HUNG, 0),
            kinds.getOrDefault(Kind.WRONG, 0),
            String.format(
                Locale.ROOT,
                "%.0f ms, %.0f ms",
                rounded(firstBytes(phase).p50()),
                rounded(firstBytes(phase).p99()))));
    table.append(
        "%nengine faults %s%nrefusals and errors %s%nleaked %d, engines lost %d, all others back after %d ms%n"
            .formatted(faults, details, leaked, lost, recoveryMillis));
    return table.toString();
  }

  private void phase(ObjectNode to, Phase phase) {
    Map<Kind, Integer> kinds = counts.getOrDefault(phase, Map.of());
    to.put("requests", kinds.values().stream().mapToInt(Integer::intValue).sum())
        .put("completed", kinds.getOrDefault(Kind.COMPLETED, 0))
        .put("refused", kinds.getOrDefault(Kind.REFUSED, 0))
        .put("ttftMsP50", rounded(firstBytes(phase).p50()))
        .put("ttftMsP99", rounded(firstBytes(phase).p99()));
  }

  private Distribution firstBytes(Phase phase) {
    return Distribution.of(
        firstBytes.getOrDefault(phase, List.of()).stream()
            .mapToDouble(Double::doubleValue)
            .toArray());
  }

  private static void line(StringBuilder table, Object... cells) {
    table.append(String.format(Locale.ROOT, "%-9s %10s %8s %7s %6s %5s %6s  %s%n", cells));
  }

  private static double rounded(double value) {
    return Math.round(value * 10) / 10.0;
  }
}
