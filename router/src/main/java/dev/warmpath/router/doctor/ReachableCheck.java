package dev.warmpath.router.doctor;

/** Whether each replica answers, and is well. */
final class ReachableCheck implements Check {

  private static final int OK = 200;

  private static boolean isRefused(String problem) {
    return problem.contains("nothing listens") || problem.contains("cannot be resolved");
  }

  @Override
  public void look(FleetFacts fleet, Findings into) {
    for (ReplicaFacts replica : fleet.replicas()) {
      HttpFacts http = replica.http();
      String url = replica.config().url().toString();
      String problem = http.problem();
      if (problem != null) {
        into.fail(
            replica.name(),
            url + ": " + problem,
            isRefused(problem)
                ? "start the engine, or correct `url`; inside a container 127.0.0.1 is the"
                    + " container"
                : "look into the engine's log; `url` begins with https:// if it was started with a"
                    + " certificate, else with http://");
      } else if (http.health() != OK) {
        into.fail(
            replica.name(),
            "GET %s%s: status %d".formatted(url, http.healthPath(), http.health()),
            "wait until the engine is up, and look into its log");
      } else {
        into.ok(replica.name(), "%s answers in %d ms".formatted(url, http.millis()));
      }
    }
  }
}
