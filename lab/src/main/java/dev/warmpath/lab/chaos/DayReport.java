package dev.warmpath.lab.chaos;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * Counts what a day brought, scene by scene.
 *
 * <p>Thread-safe.
 */
final class DayReport {

  private static final int FINDINGS_A_SCENE = 5;

  private final Map<String, Scene> scenes = new LinkedHashMap<>();
  private final Consumer<String> findings;
  private int healthChecks;
  private int lateHealthChecks;

  DayReport(Consumer<String> findings) {
    this.findings = findings;
  }

  /** What came of one scene. */
  final class Scene {
    private final String name;
    private final AtomicInteger answers = new AtomicInteger();
    private final AtomicInteger failures = new AtomicInteger();

    private Scene(String name) {
      this.name = name;
    }

    /** As it should be. */
    void answered() {
      answers.incrementAndGet();
    }

    /** Something that must not be: an answer killed, an engine lost, a wrong status. */
    void fail(String what) {
      if (failures.incrementAndGet() <= FINDINGS_A_SCENE) {
        findings.accept("ordinary day, " + name + ": " + what);
      }
    }

    void check(boolean holds, String otherwise) {
      if (!holds) {
        fail(otherwise);
      }
    }
  }

  synchronized Scene scene(String name) {
    return scenes.computeIfAbsent(name, Scene::new);
  }

  synchronized void healthChecks(int asked, int late) {
    healthChecks += asked;
    lateHealthChecks += late;
    if (late > 0) {
      findings.accept(
          "ordinary day: %d of %d /health answers took longer than %d ms or did not come"
              .formatted(late, asked, HealthWatch.LIMIT.toMillis()));
    }
  }

  /** Whether no engine was lost, no answer killed, and every health check answered in time. */
  synchronized boolean passed() {
    return lateHealthChecks == 0
        && scenes.values().stream().allMatch(scene -> scene.failures.get() == 0);
  }

  /** The figures, into {@code to}. */
  synchronized void json(ObjectNode to) {
    to.put("healthChecks", healthChecks).put("lateHealthChecks", lateHealthChecks);
    for (Scene scene : scenes.values()) {
      to.putObject(scene.name)
          .put("answers", scene.answers.get())
          .put("failures", scene.failures.get());
    }
  }

  /** The figures for people. */
  synchronized String table() {
    StringBuilder table =
        new StringBuilder("%-28s %8s %9s%n".formatted("ordinary day", "answers", "failures"));
    for (Scene scene : scenes.values()) {
      table.append(
          String.format(
              Locale.ROOT,
              "%-28s %8d %9d%n",
              scene.name,
              scene.answers.get(),
              scene.failures.get()));
    }
    return table
        .append(
            "/health answered %d times, too late %d times%n"
                .formatted(healthChecks, lateHealthChecks))
        .toString();
  }
}
