package dev.warmpath.simulator.demo;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a check gave.
 *
 * @param verdicts requests by verdict
 * @param load the load's own figures
 * @param causes why tokens were not cached
 */
public record CheckReport(
    Map<PredictionVerdict, Integer> verdicts, LoadReport load, CauseCheck causes) {

  public CheckReport {
    verdicts = Map.copyOf(verdicts);
  }

  /**
   * Whether nothing was promised that the engines did not hold, everything was served, at least one
   * prediction could be judged, and each uncached token of those that were has one cause.
   */
  public boolean passed() {
    return count(PredictionVerdict.OVER) == 0
        && count(PredictionVerdict.FAILED) == 0
        && count(PredictionVerdict.UNJUDGED) < load.requests()
        && causes.judged() > 0
        && causes.unbalanced() == 0;
  }

  /** One line to read. */
  public String line() {
    StringBuilder line = new StringBuilder();
    line.append(load.requests()).append(" requests:");
    for (PredictionVerdict verdict : PredictionVerdict.values()) {
      line.append(' ').append(count(verdict)).append(' ').append(verdict.label()).append(',');
    }
    line.append(String.format(" hit rate %.1f %%", 100 * load.hitRate()));
    line.append(
        String.format(
            "; causes of %d, %d do not add up; uncached tokens %s",
            causes.judged(), causes.unbalanced(), new TreeMap<>(causes.tokens())));
    return line.toString();
  }

  /** One line for programs. */
  public String json() {
    ObjectNode json = JsonNodeFactory.instance.objectNode();
    json.put("requests", load.requests());
    for (PredictionVerdict verdict : PredictionVerdict.values()) {
      json.put(verdict.label(), count(verdict));
    }
    json.put("hitRate", load.hitRate());
    json.put("causesJudged", causes.judged()).put("causesUnbalanced", causes.unbalanced());
    ObjectNode uncached = json.putObject("uncachedTokens");
    new TreeMap<>(causes.tokens()).forEach(uncached::put);
    ObjectNode perReplica = json.putObject("requestsPerReplica");
    load.perReplica().forEach(perReplica::put);
    return json.toString();
  }

  private int count(PredictionVerdict verdict) {
    return verdicts.getOrDefault(verdict, 0);
  }
}
