package dev.warmpath.simulator.study;

import java.util.List;

/** All that a study found, and what was run. */
public record StudyReport(Setup setup, List<ReportCell> cells, Speed speed) {

  /**
   * What was run.
   *
   * @param command as it was typed
   * @param traceRequests requests of the trace
   * @param copies as they were asked for; 0 for one for each eight replicas
   * @param warmUp share of the time that is not counted
   * @param changeSeconds when fleets change; NaN if they do not
   * @param cost the name of the engine's cost model, and its parameters
   */
  public record Setup(
      String command,
      int traceRequests,
      int copies,
      int seeds,
      double warmUp,
      double changeSeconds,
      String cost) {}

  /**
   * How fast it was.
   *
   * @param requests played, of all runs
   * @param replicas of the largest fleet
   * @param maxHeapMb heap that the JVM may use, in MiB
   */
  public record Speed(long requests, double seconds, int replicas, int threads, long maxHeapMb) {

    /** Of all threads together. */
    double requestsPerSecond() {
      return requests / Math.max(1e-9, seconds);
    }
  }

  public StudyReport {
    cells = List.copyOf(cells);
  }
}
