package dev.warmpath.router.members;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.net.HttpURLConnection;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps what replicas are worth as their pods' deletion costs, in milliseconds, so that a
 * ReplicaSet that scales down takes the least valuable one first. A pod is written at most once a
 * minute, and when its cost has changed by a tenth. Without the right to it nothing is written for
 * ten minutes, of which the log tells once.
 *
 * <p>Thread-safe; writes wait for the API server.
 */
final class DeletionCosts {

  static final String ANNOTATION = "controller.kubernetes.io/pod-deletion-cost";

  private static final Logger LOG = LoggerFactory.getLogger(DeletionCosts.class);
  private static final long WRITES_APART_NANOS = TimeUnit.MINUTES.toNanos(1);
  private static final long REFUSED_NANOS = TimeUnit.MINUTES.toNanos(10);
  private static final double LEAST_CHANGE = 0.1;
  private static final double MILLIS = 1e3;

  /** Pods by the names of their replicas. */
  private record Pods(String namespace, Map<String, String> byReplica) {}

  private record Written(int cost, long nanos) {}

  private final KubernetesConnection connection;
  private final LongSupplier nanoClock;
  private volatile Pods pods = new Pods("", Map.of());
  private final Map<String, Written> written = new HashMap<>();
  private @Nullable String problem;
  private long refusedNanos;

  DeletionCosts(KubernetesConnection connection, LongSupplier nanoClock) {
    this.connection = connection;
    this.nanoClock = nanoClock;
  }

  /**
   * These are the pods from now on.
   *
   * @param podByAddress the pod at each {@code HOST:PORT}
   */
  void found(String namespace, Found found, Map<String, String> podByAddress) {
    Map<String, String> byReplica = new HashMap<>();
    found
        .replicas()
        .forEach(replica -> {
          String pod = podByAddress.get(replica.url().getAuthority());
          if (pod != null) {
            byReplica.put(replica.name(), pod);
          }
        });
    pods = new Pods(namespace, Map.copyOf(byReplica));
  }

  /**
   * Writes what has changed; the replicas of one pod are worth as much as they are together.
   *
   * @param worthSeconds by replica
   */
  synchronized void write(Map<String, Double> worthSeconds) {
    Pods now = pods;
    written.keySet().retainAll(now.byReplica.values());
    if (problem != null && nanoClock.getAsLong() - refusedNanos < REFUSED_NANOS) {
      return;
    }
    Map<String, Double> byPod = new TreeMap<>();
    now.byReplica.forEach((replica, pod) -> {
      Double seconds = worthSeconds.get(replica);
      if (seconds != null) {
        byPod.merge(pod, seconds, Double::sum);
      }
    });
    for (Map.Entry<String, Double> each : byPod.entrySet()) {
      int cost = (int) Math.min(Integer.MAX_VALUE, Math.round(MILLIS * each.getValue()));
      if (isDue(each.getKey(), cost) && !write(now.namespace, each.getKey(), cost)) {
        return;
      }
    }
  }

  private boolean isDue(String pod, int cost) {
    Written before = written.get(pod);
    return before == null
        || (nanoClock.getAsLong() - before.nanos >= WRITES_APART_NANOS
            && Math.abs((double) cost - before.cost) > LEAST_CHANGE * Math.max(cost, before.cost));
  }

  /** Whether others may be tried. */
  private boolean write(String namespace, String pod, int cost) {
    String patch = "{\"metadata\":{\"annotations\":{\"%s\":\"%d\"}}}".formatted(ANNOTATION, cost);
    try {
      connection
          .client()
          .pods()
          .inNamespace(namespace)
          .withName(pod)
          .patch(PatchContext.of(PatchType.JSON_MERGE), patch);
      written.put(pod, new Written(cost, nanoClock.getAsLong()));
      problem = null;
      return true;
    } catch (KubernetesClientException e) {
      if (e.getCode() == HttpURLConnection.HTTP_NOT_FOUND) {
        return true; // it is gone, and the next look says so
      }
      String why = KubernetesLook.why(e);
      if (!why.equals(problem)) {
        LOG.warn("deletion costs of pods are not written: {}", why);
      }
      problem = why;
      refusedNanos = nanoClock.getAsLong();
      return false;
    }
  }
}
