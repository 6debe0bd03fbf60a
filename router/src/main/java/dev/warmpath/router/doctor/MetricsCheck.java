package dev.warmpath.router.doctor;

import dev.warmpath.router.health.MetricsPage;

/** Whether an engine's metrics show its lifetime, and that it caches prefixes at all. */
final class MetricsCheck implements Check {

  @Override
  public void look(FleetFacts fleet, Findings into) {
    for (ReplicaFacts replica : fleet.replicas()) {
      if (replica.http().reachable()) {
        look(replica, into);
      }
    }
  }

  private static void look(ReplicaFacts replica, Findings into) {
    MetricsPage metrics = replica.http().metrics();
    if ("False".equals(metrics.label("enable_prefix_caching"))) {
      into.fail(
          replica.name(),
          "prefix caching is off, so no prompt is reused",
          "start the engine with --enable-prefix-caching");
    } else if (metrics.asleep()) {
      into.warn(replica.name(), "the engine sleeps, and its cache is empty", "POST /wake_up to it");
    } else if (Double.isNaN(metrics.startSeconds()) && Double.isNaN(metrics.waiting())) {
      boolean sglang = replica.http().kind() == EngineKind.SGLANG;
      into.warn(
          replica.name(),
          "GET /metrics shows neither its start nor its queue",
          sglang
              ? "start the engine with --enable-metrics"
              : "start the engine without --disable-log-stats, and let GET /metrics pass");
    } else {
      into.ok(replica.name(), "its start and its queue are seen");
    }
  }
}
