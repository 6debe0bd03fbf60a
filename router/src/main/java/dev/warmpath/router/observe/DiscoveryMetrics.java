package dev.warmpath.router.observe;

import dev.warmpath.router.members.ReplicaSource;
import dev.warmpath.router.metrics.Metric;
import dev.warmpath.router.metrics.MetricValues;

/** How a source of replicas stands. */
public final class DiscoveryMetrics {

  private DiscoveryMetrics() {}

  public static void source(MetricValues to, ReplicaSource.Status now) {
    to.add(Metric.DISCOVERY_AGE_SECONDS, now.goodSeconds(), now.source());
    to.add(Metric.DISCOVERY_FAILURES_TOTAL, now.failures(), now.source());
    to.add(Metric.DISCOVERY_REPLICAS, now.replicas(), now.source());
    to.add(Metric.DISCOVERY_REFUSED, now.refused(), now.source());
  }
}
