package dev.warmpath.router.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Dashboard and alert rules ask for metrics that there are; docs/metrics.md equals the code. */
final class DeployedMetricsTest {

  private static final Path PROJECT = Path.of("..");
  private static final Pattern METRIC = Pattern.compile("warmpath_[a-z_]+");
  private static final Pattern QUERY = Pattern.compile("(?m)(?:metricsQ| q)uery: '(.*)'$");

  @ParameterizedTest
  @ValueSource(
      strings = {
        "deploy/grafana/warmpath.json",
        "deploy/prometheus/rules.yaml",
        "deploy/helm/warmpath/files/rules.yaml",
        "docs/operations.md"
      })
  void namesOnlyMetricsThatThereAre(String file) throws IOException {
    Set<String> there = names(Files.readString(PROJECT.resolve("docs/metrics.md")));
    Set<String> named = names(Files.readString(PROJECT.resolve(file)));

    assertThat(named).isNotEmpty();
    assertThat(there).containsAll(named);
  }

  /** What both ask Prometheus scales one Deployment, by what one router of its cluster knows. */
  @Test
  void autoscalingAsksForTheEnginesOfOneModel() throws IOException {
    List<String> queries = queries("deploy/autoscaling/hpa.yaml");
    assertThat(queries).hasSize(2).isEqualTo(queries("deploy/autoscaling/keda.yaml"));
    assertThat(queries.get(0))
        .startsWith("max(sum by (instance) (warmpath_engine_queued_seconds{engine=~");
    assertThat(queries.get(1)).startsWith("max(1 - warmpath_knee_headroom{model=");
    Set<String> there = names(Files.readString(PROJECT.resolve("docs/metrics.md")));
    assertThat(there).containsAll(names(String.join(" ", queries)));
  }

  @Test
  void theDashboardShowsWhatAutoscalingIsDecidedBy() throws IOException {
    Set<String> asked = names(Files.readString(PROJECT.resolve("docs/autoscaling.md")));
    Set<String> shown = names(Files.readString(PROJECT.resolve("deploy/grafana/warmpath.json")));
    assertThat(asked).hasSizeGreaterThan(5);
    assertThat(shown).containsAll(asked);
  }

  private static List<String> queries(String file) throws IOException {
    return QUERY
        .matcher(Files.readString(PROJECT.resolve(file)))
        .results()
        .map(query -> query.group(1))
        .toList();
  }

  /** Without the suffixes that a histogram's series have. */
  private static Set<String> names(String text) {
    Set<String> names = new TreeSet<>();
    Matcher found = METRIC.matcher(text);
    while (found.find()) {
      names.add(found.group().replaceAll("_(bucket|sum|count)$", ""));
    }
    return names;
  }
}
