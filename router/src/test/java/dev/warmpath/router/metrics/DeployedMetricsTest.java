package dev.warmpath.router.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Dashboard and alert rules ask for metrics that there are; docs/metrics.md equals the code. */
final class DeployedMetricsTest {

  private static final Path PROJECT = Path.of("..");
  private static final Pattern METRIC = Pattern.compile("warmpath_[a-z_]+");

  @ParameterizedTest
  @ValueSource(
      strings = {
        "deploy/grafana/warmpath.json",
        "deploy/prometheus/rules.yaml",
        "deploy/helm/warmpath/files/rules.yaml",
        "docs/operations.md"
      })
  void namesOnlyMetricsThatThereAre(String file) throws IOException {
    Set<String> there = names(PROJECT.resolve("docs/metrics.md"));
    Set<String> named = names(PROJECT.resolve(file));

    assertThat(named).isNotEmpty();
    assertThat(there).containsAll(named);
  }

  /** Without the suffixes that a histogram's series have. */
  private static Set<String> names(Path file) throws IOException {
    Set<String> names = new TreeSet<>();
    Matcher found = METRIC.matcher(Files.readString(file));
    while (found.find()) {
      names.add(found.group().replaceAll("_(bucket|sum|count)$", ""));
    }
    return names;
  }
}
