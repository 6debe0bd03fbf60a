package dev.warmpath.router.doctor;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.doctor.Finding.Level;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * All findings about a fleet, for people or programs.
 *
 * @param findings in the order of the checks
 */
public record DoctorReport(List<Finding> findings) {

  public DoctorReport {
    findings = List.copyOf(findings);
  }

  /** Looks at the fleet of {@code config}, which takes some seconds, and judges what was found. */
  public static DoctorReport of(RouterConfig config, FleetProbe.Options options)
      throws InterruptedException {
    try (FleetProbe probe = new FleetProbe(config, options)) {
      return new DoctorReport(Checks.of(probe.look()));
    }
  }

  /** Whether nothing failed. */
  public boolean passed() {
    return count(Level.FAIL) == 0;
  }

  /** What failed, each with its cure; empty if nothing did. */
  public String failures() {
    StringBuilder text = new StringBuilder();
    findings.stream()
        .filter(finding -> finding.level() == Level.FAIL)
        .distinct()
        .forEach(finding -> {
          text.append(String.format("  %s: %s%n", finding.subject(), finding.found()));
          if (finding.change() != null) {
            text.append(String.format("    -> %s%n", finding.change()));
          }
        });
    return text.toString().stripTrailing();
  }

  /** A table for each replica, the router's last. */
  public String text() {
    Map<String, List<Finding>> bySubject = new LinkedHashMap<>();
    findings.stream()
        .filter(finding -> !finding.subject().equals(Finding.ROUTER))
        .forEach(finding -> add(bySubject, finding));
    findings.forEach(finding -> add(bySubject, finding));
    StringBuilder text = new StringBuilder();
    bySubject.forEach((subject, found) -> {
      text.append(subject).append('\n');
      found.stream().distinct().forEach(finding -> line(text, finding));
    });
    return text.append(summary()).toString();
  }

  private static void add(Map<String, List<Finding>> bySubject, Finding finding) {
    bySubject.computeIfAbsent(finding.subject(), subject -> new ArrayList<>()).add(finding);
  }

  private static void line(StringBuilder text, Finding finding) {
    String level =
        finding.level() == Level.OK
            ? finding.level().label()
            : finding.level().label().toUpperCase(Locale.ROOT);
    text.append(String.format("  %-4s  %-13s  %s%n", level, finding.check(), finding.found()));
    if (finding.change() != null) {
      text.append(String.format("  %-4s  %-13s  -> %s%n", "", "", finding.change()));
    }
  }

  private String summary() {
    return "%d ok, %d warnings, %d failures"
        .formatted(count(Level.OK), count(Level.WARN), count(Level.FAIL));
  }

  /** One line for programs. */
  public String json() {
    ObjectNode json = JsonNodeFactory.instance.objectNode();
    json.put("passed", passed());
    for (Level level : Level.values()) {
      json.put(level.label(), count(level));
    }
    for (Finding finding : findings) {
      ObjectNode one = json.withArray("findings").addObject();
      one.put("level", finding.level().label());
      one.put("subject", finding.subject());
      one.put("check", finding.check());
      one.put("found", finding.found());
      one.put("change", finding.change());
    }
    return json.toString();
  }

  private long count(Level level) {
    return findings.stream().filter(finding -> finding.level() == level).count();
  }
}
