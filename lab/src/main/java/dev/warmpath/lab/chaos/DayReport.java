package dev.warmpath.lab.chaos;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
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

  /**
   * Asks a router for {@code /health/live} ten times a second, as a supervisor does, and counts
   * answers that take longer than a second or do not come.
   *
   * <p>Thread-safe.
   */
  static final class HealthWatch {

    static final Duration LIMIT = Duration.ofSeconds(1);

    private static final long PAUSE_MILLIS = 100;

    private final HttpClient http =
        HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(LIMIT).build();
    private final HttpRequest request;
    private final AtomicInteger asked = new AtomicInteger();
    private final AtomicInteger late = new AtomicInteger();
    private final Thread thread;
    private volatile boolean ended;

    HealthWatch(int port) {
      request =
          HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/health/live"))
              .timeout(LIMIT)
              .build();
      thread = new Thread(this::run, "day-health");
      thread.setDaemon(true);
      thread.start();
    }

    int asked() {
      return asked.get();
    }

    /** Checks that were answered too late, not at all, or not with 200. */
    int late() {
      return late.get();
    }

    private void run() {
      try {
        while (!ended) {
          asked.incrementAndGet();
          if (!isHealthy()) {
            late.incrementAndGet();
          }
          TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    private boolean isHealthy() throws InterruptedException {
      try {
        return http.send(request, BodyHandlers.discarding()).statusCode() == 200;
      } catch (IOException e) {
        return false;
      }
    }

    /** Ends the watch. */
    void end() throws InterruptedException {
      ended = true;
      thread.join();
    }
  }
}
