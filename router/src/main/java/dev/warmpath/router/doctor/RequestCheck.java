package dev.warmpath.router.doctor;

/** Whether each engine serves a request for one token. */
final class RequestCheck implements Check {

  private static final int UNAUTHORIZED = 401;
  private static final int NOT_FOUND = 404;

  @Override
  public void look(FleetFacts fleet, Findings into) {
    for (ReplicaFacts replica : fleet.replicas()) {
      for (Trial trial : replica.trials()) {
        String engine = replica.engine(trial.engine().dpRank());
        if (trial.problem() == null) {
          into.ok(engine, "it serves requests for " + trial.model());
        } else {
          into.fail(
              engine,
              "a request for %s was not served: %s".formatted(trial.model(), trial.problem()),
              remedy(trial.status()));
        }
      }
    }
  }

  private static String remedy(int status) {
    return switch (status) {
      case UNAUTHORIZED -> "the engine wants an API key; clients must send it";
      case NOT_FOUND -> "`url` must be the engine's own address, without a path";
      default -> "look into the engine's log";
    };
  }
}
