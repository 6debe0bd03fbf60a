package dev.warmpath.router.members;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.net.HttpURLConnection;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps what replicas are worth as their pods' deletion costs, in milliseconds, so that a
 * ReplicaSet that scales down takes the least valuable one first. A pod of which that is not known
 * keeps what it has.
 *
 * <p>Nothing is written for the first five minutes, until the index is likely to be whole. Then a
 * pod is written when its cost has changed by a second or more, and by half of it, once a minute at
 * most, or by a tenth, once in five minutes. What another router has written counts as written by
 * this one, when it is met, also between this one's look at the pod and its write. A pod that
 * cannot be written is tried again after a minute; without the right to it, or an answer of the API
 * server, all are left alone for ten minutes, or one. The log tells once.
 *
 * <p>Thread-safe; a thread of its own waits for the API server, while there is something to write.
 */
final class DeletionCosts implements AutoCloseable {

  /*
   * Routers that share nothing but the API server take turns by the rule: a write is preceded by an
   * empty patch, which changes nothing and brings the pod as it stands, with no other right than
   * the one to patch. If its cost is not what this router wrote last, somebody wrote it within this
   * router's last minute, as far as this one knows: the pod's minute begins anew.
   *
   *   worth ─▶ latest ─▶ thread ─▶ due by the rule? ─▶ empty patch ─▶ another's? its minute begins
   *                                                        └────────▶ as left: patch of this very
   *                                                                   version; 409? its minute begins
   */

  static final String ANNOTATION = "controller.kubernetes.io/pod-deletion-cost";

  private static final Logger LOG = LoggerFactory.getLogger(DeletionCosts.class);
  private static final long FIRST_NANOS = TimeUnit.MINUTES.toNanos(5);
  private static final long MUCH_APART_NANOS = TimeUnit.MINUTES.toNanos(1);
  private static final double MUCH = 0.5;
  private static final long LITTLE_APART_NANOS = TimeUnit.MINUTES.toNanos(5);
  private static final double LITTLE = 0.1;
  private static final double LEAST_CHANGE_MILLIS = 1_000;
  private static final long RETRY_NANOS = TimeUnit.MINUTES.toNanos(1);
  private static final long REFUSED_NANOS = TimeUnit.MINUTES.toNanos(10);
  private static final double MILLIS = 1e3;
  private static final long IDLE_SECONDS = 60;

  /** Pods by the names of their replicas. */
  private record Pods(String namespace, Map<String, String> byReplica) {}

  private record Written(int cost, long nanos) {}

  private final String source;
  private final KubernetesConnection connection;
  private final LongSupplier nanoClock;
  private volatile Pods pods = new Pods("", Map.of());
  private boolean toldOfNoPod;
  private final Map<String, Written> written = new HashMap<>();

  /** When each pod failed that cannot be written. */
  private final Map<String, Long> failed = new HashMap<>();

  /** Of the last failure the status, 0 for no answer; null if the last write was good. */
  private @Nullable Integer problem;

  private final AtomicReference<@Nullable Map<String, Double>> latest = new AtomicReference<>();
  private final ThreadPoolExecutor writer;
  private volatile boolean closed;

  /** Before it nothing is written. */
  private long restNanos;

  /**
   * @param source the name of the source whose pods these are
   */
  DeletionCosts(String source, KubernetesConnection connection, LongSupplier nanoClock) {
    this.source = source;
    this.connection = connection;
    this.nanoClock = nanoClock;
    this.restNanos = nanoClock.getAsLong() + FIRST_NANOS;
    this.writer =
        new ThreadPoolExecutor(
            1,
            1,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            run -> {
              Thread thread = new Thread(run, "warmpath-deletion-costs-" + source);
              thread.setDaemon(true);
              return thread;
            },
            new ThreadPoolExecutor.DiscardPolicy());
    writer.allowCoreThreadTimeOut(true);
  }

  /**
   * Has what has changed written soon; does not wait. Of several that come while the API server is
   * slow the last one counts.
   *
   * @param worthSeconds by replica; without those of which it is not known
   */
  void update(Map<String, Double> worthSeconds) {
    if (latest.getAndSet(worthSeconds) == null) {
      writer.execute(this::writeLatest);
    }
  }

  private void writeLatest() {
    try {
      Map<String, Double> worthSeconds = latest.getAndSet(null);
      if (worthSeconds != null) {
        write(worthSeconds);
      }
    } catch (RuntimeException e) {
      LOG.error("source {}: deletion costs could not be written", source, e);
    }
  }

  /** Writes nothing more; a write that runs may fail. */
  @Override
  public void close() {
    closed = true;
    writer.shutdown();
  }

  /**
   * These are the pods from now on. Called by one thread at a time.
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
          } else if (!toldOfNoPod) {
            toldOfNoPod = true;
            LOG.warn(
                "source {}: no deletion cost is written for replica {} and others like it: "
                    + "no pod is known at {}; its url must be of '{host}:{port}'",
                source,
                replica.name(),
                replica.url().getAuthority());
          }
        });
    pods = new Pods(namespace, Map.copyOf(byReplica));
  }

  /**
   * Writes what has changed; the replicas of one pod are worth as much as they are together.
   *
   * @param worthSeconds by replica; without those of which it is not known
   */
  synchronized void write(Map<String, Double> worthSeconds) {
    Pods now = pods;
    written.keySet().retainAll(now.byReplica.values());
    failed.keySet().retainAll(now.byReplica.values());
    costs(now, worthSeconds)
        .forEach((pod, cost) -> {
          if (!closed && !isResting() && isDue(pod, cost)) {
            write(now.namespace, pod, cost);
          }
        });
  }

  private boolean isResting() {
    return nanoClock.getAsLong() - restNanos < 0;
  }

  /** By pod, ordered; a pod of which one replica is not known has none. */
  private static Map<String, Integer> costs(Pods pods, Map<String, Double> worthSeconds) {
    Map<String, Double> seconds = new TreeMap<>();
    pods.byReplica.forEach((replica, pod) ->
        seconds.merge(pod, worthSeconds.getOrDefault(replica, Double.NaN), Double::sum));
    Map<String, Integer> costs = new TreeMap<>();
    seconds.forEach((pod, worth) -> {
      if (!Double.isNaN(worth)) {
        costs.put(pod, (int) Math.min(Integer.MAX_VALUE, Math.round(MILLIS * worth)));
      }
    });
    return costs;
  }

  private boolean isDue(String pod, int cost) {
    long now = nanoClock.getAsLong();
    Long failedNanos = failed.get(pod);
    if (failedNanos != null && now - failedNanos < RETRY_NANOS) {
      return false;
    }
    Written before = written.get(pod);
    if (before == null) {
      return true;
    }
    long apart = now - before.nanos;
    double change = Math.abs((double) cost - before.cost);
    double most = Math.max(cost, before.cost);
    return change >= LEAST_CHANGE_MILLIS
        && ((apart >= MUCH_APART_NANOS && change > MUCH * most)
            || (apart >= LITTLE_APART_NANOS && change > LITTLE * most));
  }

  private void write(String namespace, String pod, int cost) {
    try {
      Pod found = patch(namespace, pod, "{}");
      Integer there = cost(found);
      Written before = written.get(pod);
      if (there != null && (before == null || before.cost != there)) {
        written.put(pod, new Written(there, nanoClock.getAsLong()));
      } else {
        patch(
            namespace,
            pod,
            "{\"metadata\":{\"resourceVersion\":\"%s\",\"annotations\":{\"%s\":\"%d\"}}}"
                .formatted(found.getMetadata().getResourceVersion(), ANNOTATION, cost));
        written.put(pod, new Written(cost, nanoClock.getAsLong()));
      }
      failed.remove(pod);
      if (failed.isEmpty()) {
        problem = null;
      }
    } catch (KubernetesClientException e) {
      failed(pod, e);
    }
  }

  /** Merges a change into a pod; returns the pod as it is then. */
  private Pod patch(String namespace, String pod, String change) {
    // With an object at hand the client does not get the pod first, for which there may be no
    // right.
    Pod named =
        new PodBuilder()
            .withNewMetadata()
            .withName(pod)
            .withNamespace(namespace)
            .endMetadata()
            .build();
    return connection
        .client()
        .pods()
        .inNamespace(namespace)
        .resource(named)
        .patch(PatchContext.of(PatchType.JSON_MERGE), change);
  }

  /** The cost that a pod has; null without one. */
  private static @Nullable Integer cost(Pod pod) {
    Map<String, String> all = pod.getMetadata().getAnnotations();
    String cost = all == null ? null : all.get(ANNOTATION);
    // the API server admits 32-bit numbers only
    return cost == null ? null : Integer.valueOf(cost);
  }

  private void failed(String pod, KubernetesClientException e) {
    long now = nanoClock.getAsLong();
    failed.put(pod, now);
    switch (e.getCode()) {
      case HttpURLConnection.HTTP_NOT_FOUND -> {
        return; // it is gone, and the next look says so
      }
      case HttpURLConnection.HTTP_CONFLICT -> {
        return; // written meanwhile, by another router as far as is known
      }
      case HttpURLConnection.HTTP_UNAUTHORIZED, HttpURLConnection.HTTP_FORBIDDEN ->
          restNanos = now + REFUSED_NANOS;
      case 0 -> restNanos = now + RETRY_NANOS; // no answer
      default -> {}
    }
    if (!closed && !Objects.equals(problem, e.getCode())) {
      LOG.warn(
          "source {}: the deletion cost of pod {} is not written: {}",
          source,
          pod,
          KubernetesLook.why(e));
    }
    problem = e.getCode();
  }
}
