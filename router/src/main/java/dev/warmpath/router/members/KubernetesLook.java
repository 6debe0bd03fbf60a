package dev.warmpath.router.members;

import dev.warmpath.router.config.DiscoveryConfig;
import dev.warmpath.router.config.ReplicaTemplate;
import dev.warmpath.router.members.ReadyEndpoints.Ready;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectReference;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Finds a replica behind each endpoint of a Service that is ready.
 *
 * <p>Each look lists the EndpointSlices; a watch only tells when to look again. So a lost event, a
 * watch that ended, was refused as too old or went silent costs no more than one interval. A pod
 * that makes a replica is read once, for its annotations.
 *
 * <p>Confined to the thread of its source, but for {@link #close}.
 */
final class KubernetesLook implements Look {

  static final String OF_SERVICE = "kubernetes.io/service-name=";

  private final DiscoveryConfig config;
  private final KubernetesConnection connection;
  private final @Nullable DeletionCosts costs;
  private Map<String, Map<String, String>> annotations = Map.of();

  /**
   * @param config of a source of kind kubernetes
   */
  KubernetesLook(DiscoveryConfig config) {
    this(config, new KubernetesConnection(() -> Config.autoConfigure(null)));
  }

  KubernetesLook(DiscoveryConfig config, KubernetesConnection connection) {
    this(config, connection, System::nanoTime);
  }

  KubernetesLook(DiscoveryConfig config, KubernetesConnection connection, LongSupplier nanoClock) {
    this.config = config;
    this.connection = connection;
    this.costs =
        config.deletionCost() ? new DeletionCosts(config.name(), connection, nanoClock) : null;
  }

  @Override
  public void onChange(Runnable wake) {
    connection.onChange(wake);
  }

  @Override
  public Found look() throws IOException {
    try {
      KubernetesClient client = connection.client();
      String namespace = connection.namespace(config.namespace());
      ReadyEndpoints endpoints =
          ReadyEndpoints.read(connection.slices(namespace, labels()), config);
      Found found = new Found();
      endpoints.refused().forEach(found::refuse);
      addReplicas(found, endpoints, client, namespace);
      return found;
    } catch (KubernetesClientException e) {
      throw new IOException(why(e), e);
    }
  }

  private String labels() {
    String service = config.service() == null ? null : OF_SERVICE + config.service();
    String selector = config.selector();
    if (service != null && selector != null) {
      return service + "," + selector;
    }
    return String.valueOf(service == null ? selector : service);
  }

  private void addReplicas(
      Found found, ReadyEndpoints endpoints, KubernetesClient client, String namespace) {
    Map<String, Map<String, String>> seen = new HashMap<>();
    Map<String, String> pods = new HashMap<>();
    for (Ready ready : endpoints.ready()) {
      ObjectReference pod = ready.pod();
      if (pod == null) {
        found.add(config.replica(), null, ready.host(), ready.port(), Map.of());
        continue;
      }
      pods.put(ReplicaTemplate.address(ready.host(), ready.port()), pod.getName());
      Map<String, String> known = annotations.get(uid(pod));
      Map<String, String> own = known == null ? read(client, namespace, pod) : known;
      if (found.add(config.replica(), pod.getName(), ready.host(), ready.port(), own)) {
        seen.put(uid(pod), own);
      }
    }
    annotations = seen;
    if (costs != null) {
      costs.found(namespace, found, pods);
    }
  }

  @Override
  public void worth(Map<String, Double> seconds) {
    if (costs != null) {
      costs.update(seconds);
    }
  }

  /** A pod that is gone has none; its endpoint goes too. */
  private static Map<String, String> read(
      KubernetesClient client, String namespace, ObjectReference reference) {
    var pod = client.pods().inNamespace(namespace).withName(reference.getName()).get();
    return pod == null ? Map.of() : annotations(pod);
  }

  /** Those that are for the router, in their order. */
  static Map<String, String> annotations(HasMetadata object) {
    Map<String, String> own = new TreeMap<>();
    if (object.getMetadata().getAnnotations() != null) {
      own.putAll(object.getMetadata().getAnnotations());
      own.keySet().removeIf(name -> !name.startsWith(ReplicaTemplate.ANNOTATION));
    }
    return own;
  }

  private static String uid(ObjectReference pod) {
    return pod.getUid() == null ? pod.getName() : pod.getUid();
  }

  /** What the server answered, else why it did not answer. */
  static String why(KubernetesClientException e) {
    if (e.getStatus() != null) {
      return e.getStatus().getMessage() + " (" + e.getCode() + ")";
    }
    Throwable root = e;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    return "no answer of the API server: " + root;
  }

  @Override
  public void close() {
    if (costs != null) {
      costs.close();
    }
    connection.close();
  }
}
