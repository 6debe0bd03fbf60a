package dev.warmpath.simulator.check;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.simulator.load.LoadReport;
import java.util.Map;

/**
 * What a check gave.
 *
 * @param verdicts requests by verdict
 * @param load the load's own figures
 */
public record CheckReport(Map<Verdict, Integer> verdicts, LoadReport load) {

  public CheckReport {
    verdicts = Map.copyOf(verdicts);
  }

  /**
   * Whether nothing was promised that the engines did not hold, everything was served, and at least
   * one prediction could be judged.
   */
  public boolean passed() {
    return count(Verdict.OVER) == 0
        && count(Verdict.FAILED) == 0
        && count(Verdict.UNJUDGED) < load.requests();
  }

  /** One line to read. */
  public String line() {
    StringBuilder line = new StringBuilder();
    line.append(load.requests()).append(" requests:");
    for (Verdict verdict : Verdict.values()) {
      line.append(' ').append(count(verdict)).append(' ').append(verdict.label()).append(',');
    }
    return line.append(String.format(" hit rate %.1f %%", 100 * load.hitRate())).toString();
  }

  /** One line for programs. */
  public String json() {
    ObjectNode json = JsonNodeFactory.instance.objectNode();
    json.put("requests", load.requests());
    for (Verdict verdict : Verdict.values()) {
      json.put(verdict.label(), count(verdict));
    }
    json.put("hitRate", load.hitRate());
    ObjectNode perReplica = json.putObject("requestsPerReplica");
    load.perReplica().forEach(perReplica::put);
    return json.toString();
  }

  private int count(Verdict verdict) {
    return verdicts.getOrDefault(verdict, 0);
  }
}
