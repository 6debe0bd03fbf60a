package dev.warmpath.router.members;

import dev.warmpath.router.config.DiscoveryConfig;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Finds a replica at each port of an InferencePool in each of its pods that is ready. The pool is
 * only read: its status is for the gateway to write.
 *
 * <p>Each look lists the pool and its pods; watches only tell when to look again, as with {@link
 * KubernetesLook}.
 *
 * <p>Confined to the thread of its source, but for {@link #close}.
 */
final class InferencePoolLook implements Look {

  /*
   * Two API groups have had this kind. The newer one is asked first; the older one only if that is
   * not served or has no pool of the name, so a cluster that has both follows the newer one, and
   * one that is upgraded keeps its replicas until its pool is there too. Both are watched then.
   *
   *   inference.networking.k8s.io/v1             spec.selector.matchLabels  spec.targetPorts[].number
   *   inference.networking.x-k8s.io/v1alpha2     spec.selector              spec.targetPortNumber
   */

  private static final ResourceDefinitionContext V1 = kind("inference.networking.k8s.io", "v1");
  private static final ResourceDefinitionContext V1ALPHA2 =
      kind("inference.networking.x-k8s.io", "v1alpha2");

  private static final String PODS = "pods";

  /** Annotations of a pod that name those of the pool's ports which it serves; the first counts. */
  private static final List<String> ACTIVE_PORTS =
      List.of("llm-d.ai/active-ports", "inference.networking.k8s.io/active-ports");

  private static final int MAX_LABELS = 64;
  private static final int MAX_PORTS = 8;
  private static final int MAX_PORT = 65_535;

  /** What the router needs of a pool. */
  private record Pool(Map<String, String> labels, List<Integer> ports) {}

  private final DiscoveryConfig config;
  private final KubernetesConnection connection;

  /**
   * @param config of a source of kind inference-pool
   */
  InferencePoolLook(DiscoveryConfig config) {
    this(config, new KubernetesConnection(() -> Config.autoConfigure(null)));
  }

  InferencePoolLook(DiscoveryConfig config, KubernetesConnection connection) {
    this.config = config;
    this.connection = connection;
  }

  private static ResourceDefinitionContext kind(String group, String version) {
    return new ResourceDefinitionContext.Builder()
        .withGroup(group)
        .withVersion(version)
        .withKind("InferencePool")
        .withPlural("inferencepools")
        .withNamespaced(true)
        .build();
  }

  @Override
  public void onChange(Runnable wake) {
    connection.onChange(wake);
  }

  @Override
  public Found look() throws IOException {
    try {
      String namespace = connection.namespace(config.namespace());
      Found found = new Found();
      Pool pool = pool(namespace);
      if (pool == null) {
        connection.unwatch(PODS);
        found.refuse("InferencePool " + namespace + "/" + config.pool() + ": there is none");
        return found;
      }
      connection
          .list(PODS, connection.client().pods().inNamespace(namespace).withLabels(pool.labels()))
          .stream()
          .filter(InferencePoolLook::takesRequests)
          .sorted(Comparator.comparing(pod -> pod.getMetadata().getName()))
          .forEach(pod -> add(found, pool, pod));
      return found;
    } catch (KubernetesClientException e) {
      throw new IOException(KubernetesLook.why(e), e);
    }
  }

  /**
   * The pool as it is now; null if there is none of the name.
   *
   * @throws IOException if it makes no sense, or nothing serves its kind
   */
  private @Nullable Pool pool(String namespace) throws IOException {
    List<GenericKubernetesResource> newer = listed(V1, namespace);
    if (newer != null && !newer.isEmpty()) {
      connection.unwatch(V1ALPHA2.getGroup());
      return read(newer.get(0));
    }
    List<GenericKubernetesResource> older;
    try {
      older = listed(V1ALPHA2, namespace);
    } catch (KubernetesClientException e) {
      if (newer == null || e.getCode() != HttpURLConnection.HTTP_FORBIDDEN) {
        throw e;
      }
      older = null; // a role for the newer group is enough
    }
    if (newer == null && older == null) {
      throw new IOException(
          "the API server has neither InferencePools of %s nor of %s: their CRD is not installed"
              .formatted(group(V1), group(V1ALPHA2)));
    }
    return older == null || older.isEmpty() ? null : read(older.get(0));
  }

  private static String group(ResourceDefinitionContext kind) {
    return kind.getGroup() + "/" + kind.getVersion();
  }

  /** The pools of the name, one or none; null if the kind is not served. */
  private @Nullable List<GenericKubernetesResource> listed(
      ResourceDefinitionContext kind, String namespace) {
    try {
      return connection.list(
          kind.getGroup(),
          connection
              .client()
              .genericKubernetesResources(kind)
              .inNamespace(namespace)
              .withField("metadata.name", String.valueOf(config.pool())));
    } catch (KubernetesClientException e) {
      if (e.getCode() != HttpURLConnection.HTTP_NOT_FOUND) {
        throw e;
      }
      connection.unwatch(kind.getGroup());
      return null;
    }
  }

  private static Pool read(GenericKubernetesResource pool) throws IOException {
    try {
      boolean isOlder = group(V1ALPHA2).equals(pool.getApiVersion());
      return isOlder
          ? new Pool(
              labels(pool.get("spec", "selector"), "spec.selector"),
              List.of(port(pool.get("spec", "targetPortNumber"), "spec.targetPortNumber")))
          : new Pool(
              labels(pool.get("spec", "selector", "matchLabels"), "spec.selector.matchLabels"),
              ports(pool.get("spec", "targetPorts")));
    } catch (IllegalArgumentException e) {
      throw new IOException("InferencePool " + name(pool) + ": " + e.getMessage(), e);
    }
  }

  /** Without labels a selector would mean all pods of the namespace. */
  private static Map<String, String> labels(@Nullable Object given, String field) {
    Map<String, String> labels = new TreeMap<>();
    if (given instanceof Map<?, ?> map) {
      map.forEach((key, value) -> labels.put(String.valueOf(key), String.valueOf(value)));
    }
    if (labels.isEmpty() || labels.size() > MAX_LABELS) {
      throw new IllegalArgumentException(
          "'%s' must hold 1 to %d labels: %s".formatted(field, MAX_LABELS, given));
    }
    return labels;
  }

  private static List<Integer> ports(@Nullable Object given) {
    Set<Integer> ports = new LinkedHashSet<>();
    if (given instanceof List<?> list && !list.isEmpty() && list.size() <= MAX_PORTS) {
      for (int i = 0; i < list.size(); i++) {
        String field = "spec.targetPorts[" + i + "].number";
        Object number = list.get(i) instanceof Map<?, ?> port ? port.get("number") : null;
        if (!ports.add(port(number, field))) {
          throw new IllegalArgumentException("'%s' is given twice: %s".formatted(field, number));
        }
      }
    } else {
      throw new IllegalArgumentException(
          "'spec.targetPorts' must hold 1 to %d ports: %s".formatted(MAX_PORTS, given));
    }
    return List.copyOf(ports);
  }

  private static int port(@Nullable Object given, String field) {
    if (given instanceof Number number
        && number.longValue() > 0
        && number.longValue() <= MAX_PORT) {
      return number.intValue();
    }
    throw new IllegalArgumentException("'%s' must be a port: %s".formatted(field, given));
  }

  private static boolean takesRequests(Pod pod) {
    PodStatus status = pod.getStatus();
    return pod.getMetadata().getDeletionTimestamp() == null
        && status != null
        && status.getPodIP() != null
        && !status.getPodIP().isEmpty()
        && !Set.of("Succeeded", "Failed").contains(String.valueOf(status.getPhase()))
        && status.getConditions() != null
        && status.getConditions().stream()
            .anyMatch(one -> "Ready".equals(one.getType()) && "True".equals(one.getStatus()));
  }

  /** Adds a replica for each port that the pod serves. */
  private void add(Found found, Pool pool, Pod pod) {
    String name = pod.getMetadata().getName();
    Map<String, String> own = KubernetesLook.annotations(pod);
    Set<String> active = activePorts(pod);
    List<Integer> ports = pool.ports();
    IntStream.range(0, ports.size())
        .filter(rank -> active == null || active.contains(ports.get(rank).toString()))
        .forEach(rank -> {
          String called = ports.size() == 1 ? name : name + "-rank-" + rank;
          String host = pod.getStatus().getPodIP();
          found.add(config.replica(), called, host, ports.get(rank), own, rank);
        });
  }

  /** The ports that its annotation names; null without one. */
  private static @Nullable Set<String> activePorts(Pod pod) {
    Map<String, String> all = pod.getMetadata().getAnnotations();
    if (all == null) {
      return null;
    }
    return ACTIVE_PORTS.stream()
        .filter(all::containsKey)
        .findFirst()
        .map(key -> Set.copyOf(Stream.of(all.get(key).split(",")).map(String::strip).toList()))
        .orElse(null);
  }

  private static String name(HasMetadata object) {
    return object.getMetadata().getNamespace() + "/" + object.getMetadata().getName();
  }

  @Override
  public void close() {
    connection.close();
  }
}
