package dev.warmpath.router.doctor;

/** Whether an engine reports what it reused, and reuses what was predicted. */
final class CachedTokensCheck implements Check {

  @Override
  public void look(FleetFacts fleet, Findings into) {
    for (ReplicaFacts replica : fleet.replicas()) {
      for (Trial trial : replica.trials()) {
        if (trial.problem() == null) {
          look(replica, trial, into);
        }
      }
    }
  }

  private static void look(ReplicaFacts replica, Trial trial, Findings into) {
    String engine = replica.engine(trial.engine().dpRank());
    int reused = trial.second().cachedTokens();
    int predicted = trial.predictedTokens();
    if (!trial.second().tellsCachedTokens()) {
      boolean sglang = replica.http().kind() == EngineKind.SGLANG;
      into.warn(
          engine,
          "its answers do not show `cached_tokens`, so no prediction can be verified",
          "start the engine with "
              + (sglang ? "--enable-cache-report" : "--enable-prompt-tokens-details"));
    } else if (!trial.isJudged() || trial.heldBlocks() == 0) {
      into.ok(engine, "its answers show `cached_tokens`; nothing was predicted");
    } else if (predicted > reused) {
      into.fail(
          engine,
          "%d cached tokens were predicted, and %d were reused".formatted(predicted, reused),
          "run it again without other traffic; if it stays, see `dialect` in"
              + " docs/configuration.md and bin/warmpath check-live");
    } else if (predicted < reused) {
      into.warn(
          engine,
          "%d cached tokens were predicted, and %d were reused".formatted(predicted, reused),
          "run it again without other traffic; if it stays, bin/warmpath check-live");
    } else {
      into.ok(
          engine, "%d cached tokens were predicted, and %d reused".formatted(predicted, reused));
    }
  }
}
