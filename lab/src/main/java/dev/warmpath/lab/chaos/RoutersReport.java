package dev.warmpath.lab.chaos;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * Counts what several routers brought, scene by scene.
 *
 * <p>Thread-safe.
 */
final class RoutersReport {

  private static final int FINDINGS_A_SCENE = 5;

  private final String link;
  private final Consumer<String> findings;
  private final List<Scene> scenes = new ArrayList<>();
  private volatile Scene now = new Scene("start");
  private volatile String seed = "none";
  private volatile double seededShare = Double.NaN;

  /**
   * @param link by which the routers tell each other
   * @param findings gets one line for each thing that must not be
   */
  RoutersReport(String link, Consumer<String> findings) {
    this.link = link;
    this.findings = findings;
    scenes.add(now);
  }

  /** What came of one scene. */
  final class Scene {
    private final String name;
    private final AtomicInteger answers = new AtomicInteger();
    private final AtomicInteger elsewhere = new AtomicInteger();
    private final AtomicInteger lost = new AtomicInteger();
    private final AtomicInteger failures = new AtomicInteger();
    private volatile long recoveredMillis = -1;

    private Scene(String name) {
      this.name = name;
    }

    /** A whole answer. */
    void answered() {
      answers.incrementAndGet();
    }

    /** A request that could not be sent to one router and went to another. */
    void sentElsewhere() {
      elsewhere.incrementAndGet();
    }

    /** A request that was in flight on a router when that was killed. */
    void lostWithRouter() {
      lost.incrementAndGet();
    }

    int lost() {
      return lost.get();
    }

    /** After so long all agreed again. */
    void recovered(long millis) {
      recoveredMillis = millis;
    }

    /** Something that must not be. */
    void fail(String what) {
      if (failures.incrementAndGet() <= FINDINGS_A_SCENE) {
        findings.accept("routers over %s, %s: %s".formatted(link, name, what));
      }
    }

    void check(boolean holds, String otherwise) {
      if (!holds) {
        fail(otherwise);
      }
    }
  }

  /** Begins a scene; what happens from now on counts there. */
  synchronized Scene begin(String name) {
    now = new Scene(name);
    scenes.add(now);
    return now;
  }

  /** The scene that is played. */
  Scene now() {
    return now;
  }

  /**
   * How the router that was started again got its index.
   *
   * @param share of its neighbour's blocks that it held when it was first ready
   */
  void seeded(String outcome, double share) {
    seed = outcome;
    seededShare = share;
  }

  synchronized boolean passed() {
    return scenes.stream().allMatch(scene -> scene.failures.get() == 0);
  }

  synchronized int answers() {
    return scenes.stream().mapToInt(scene -> scene.answers.get()).sum();
  }

  /** The figures, into {@code to}. */
  synchronized void json(ObjectNode to) {
    to.put("seed", seed);
    if (!Double.isNaN(seededShare)) {
      to.put("seededShare", seededShare);
    }
    for (Scene scene : scenes) {
      to.putObject(scene.name)
          .put("answers", scene.answers.get())
          .put("sentElsewhere", scene.elsewhere.get())
          .put("lostWithRouter", scene.lost.get())
          .put("failures", scene.failures.get())
          .put("recoveredMs", scene.recoveredMillis < 0 ? null : scene.recoveredMillis);
    }
  }

  /** The figures for people. */
  synchronized String table() {
    StringBuilder table =
        new StringBuilder(
            "%-28s %8s %14s %17s %9s %12s%n"
                .formatted(
                    "routers over " + link,
                    "answers",
                    "sent elsewhere",
                    "lost with router",
                    "failures",
                    "recovered ms"));
    for (Scene scene : scenes) {
      table.append(
          String.format(
              Locale.ROOT,
              "%-28s %8d %14d %17d %9d %12s%n",
              scene.name,
              scene.answers.get(),
              scene.elsewhere.get(),
              scene.lost.get(),
              scene.failures.get(),
              scene.recoveredMillis < 0 ? "" : scene.recoveredMillis));
    }
    return table
        .append(
            String.format(
                Locale.ROOT,
                "the router that was started again: seed %s, %.1f %% of its neighbour's blocks%n",
                seed,
                100 * seededShare))
        .toString();
  }
}
