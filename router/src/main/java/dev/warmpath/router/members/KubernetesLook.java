package dev.warmpath.router.members;

import dev.warmpath.router.config.DiscoveryConfig;
import dev.warmpath.router.members.ReadyEndpoints.Ready;
import io.fabric8.kubernetes.api.model.ObjectReference;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSliceList;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Finds a replica behind each endpoint of a Service that is ready.
 *
 * <p>Each look lists the EndpointSlices; a watch only tells when to look again. So a lost event, a
 * watch that ended, was refused as too old or went silent costs no more than one interval. A pod is
 * read once, for its annotations.
 *
 * <p>Confined to the thread of its source, but for {@link #close}.
 */
public final class KubernetesLook implements Look {

  private static final String OF_SERVICE = "kubernetes.io/service-name=";

  private final DiscoveryConfig config;
  private final KubernetesConnection connection;
  private Map<String, Annotations> annotations = Map.of();

  /**
   * @param config of a source of kind kubernetes
   */
  public KubernetesLook(DiscoveryConfig config) {
    this(config, new KubernetesConnection(() -> Config.autoConfigure(null)));
  }

  KubernetesLook(DiscoveryConfig config, KubernetesConnection connection) {
    this.config = config;
    this.connection = connection;
  }

  @Override
  public void onChange(Runnable wake) {
    connection.onChange(wake);
  }

  @Override
  public Found look() throws IOException {
    try {
      KubernetesClient client = connection.client();
      String namespace = namespace(client);
      EndpointSliceList list = connection.slices(namespace, labels());
      ReadyEndpoints slices = ReadyEndpoints.read(list.getItems(), config);
      List<String> refused = new ArrayList<>(slices.refused());
      List<Address> addresses = addresses(client, namespace, slices, refused);
      return Found.at(addresses, config.replica(), refused, 0);
    } catch (KubernetesClientException e) {
      throw new IOException(why(e), e);
    }
  }

  private String namespace(KubernetesClient client) {
    String own = config.namespace() == null ? client.getNamespace() : config.namespace();
    return own == null ? "default" : own;
  }

  private String labels() {
    String service = config.service() == null ? null : OF_SERVICE + config.service();
    String selector = config.selector();
    if (service != null && selector != null) {
      return service + "," + selector;
    }
    return String.valueOf(service == null ? selector : service);
  }

  private List<Address> addresses(
      KubernetesClient client, String namespace, ReadyEndpoints slices, List<String> refused) {
    Map<String, Annotations> seen = new HashMap<>();
    List<Address> addresses = new ArrayList<>();
    for (Ready ready : slices.ready()) {
      String name = ready.pod() == null ? Address.name(ready.host()) : ready.pod().getName();
      try {
        Annotations own = annotations(client, namespace, ready.pod());
        if (ready.pod() != null) {
          seen.put(uid(ready.pod()), own);
        }
        addresses.add(new Address(name, ready.host(), ready.port(), own.ports(), own.keys()));
      } catch (IllegalArgumentException e) {
        refused.add("pod " + name + ": " + e.getMessage());
      }
    }
    annotations = seen;
    return addresses;
  }

  private Annotations annotations(
      KubernetesClient client, String namespace, @Nullable ObjectReference pod) {
    if (pod == null) {
      return Annotations.NONE;
    }
    Annotations known = annotations.get(uid(pod));
    return known == null ? read(client, namespace, pod) : known;
  }

  /** A pod that is gone has none; its endpoint goes too. */
  private static Annotations read(
      KubernetesClient client, String namespace, ObjectReference reference) {
    var pod = client.pods().inNamespace(namespace).withName(reference.getName()).get();
    return pod == null || pod.getMetadata().getAnnotations() == null
        ? Annotations.NONE
        : Annotations.of(pod.getMetadata().getAnnotations());
  }

  private static String uid(ObjectReference pod) {
    return pod.getUid() == null ? pod.getName() : pod.getUid();
  }

  /** What the server answered, else why it did not answer. */
  private static String why(KubernetesClientException e) {
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
    connection.close();
  }
}
