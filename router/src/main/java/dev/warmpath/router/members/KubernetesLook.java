package dev.warmpath.router.members;

import dev.warmpath.router.config.DiscoveryConfig;
import dev.warmpath.router.config.ReplicaTemplate;
import dev.warmpath.router.members.KubernetesLook.ReadyEndpoints.Ready;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectReference;
import io.fabric8.kubernetes.api.model.discovery.v1.Endpoint;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointConditions;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointPort;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSlice;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
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

  /**
   * The endpoints in EndpointSlices that take requests: ready and not terminating, each once, by
   * IPv4 if it has that.
   *
   * <p>Confined to one thread.
   */
  static final class ReadyEndpoints {

    private static final String IPV6 = "IPv6";

    /**
     * An endpoint that takes requests.
     *
     * @param pod that it stands for; null if it stands for none
     */
    record Ready(String host, int port, boolean isIpv6, @Nullable ObjectReference pod) {

      /** The same for all addresses of a pod. */
      private String key() {
        return pod == null ? host : String.valueOf(pod.getUid()) + pod.getName();
      }
    }

    private final DiscoveryConfig config;
    private final Map<String, Ready> ready = new LinkedHashMap<>();
    private final List<String> refused = new ArrayList<>();

    private ReadyEndpoints(DiscoveryConfig config) {
      this.config = config;
    }

    static ReadyEndpoints read(List<EndpointSlice> slices, DiscoveryConfig config) {
      ReadyEndpoints all = new ReadyEndpoints(config);
      slices.forEach(all::read);
      return all;
    }

    /** Ordered by host and port, whatever the order of the slices. */
    List<Ready> ready() {
      return ready.values().stream()
          .sorted(Comparator.comparing(Ready::host).thenComparingInt(Ready::port))
          .toList();
    }

    /** ReadyEndpoints that have no port for their endpoints, each with the reason. */
    List<String> refused() {
      return refused;
    }

    private void read(EndpointSlice slice) {
      List<Endpoint> taken =
          given(slice.getEndpoints()).filter(ReadyEndpoints::takesRequests).toList();
      if (taken.isEmpty()) {
        return;
      }
      int port = port(slice);
      if (port == 0) {
        String why =
            config.portName() == null ? "not one port" : "no port '" + config.portName() + "'";
        refused.add("EndpointSlice " + slice.getMetadata().getName() + ": it has " + why);
        return;
      }
      boolean isIpv6 = IPV6.equals(slice.getAddressType());
      taken.forEach(endpoint -> add(endpoint, port, isIpv6));
    }

    /** A server gives null for a list without items. */
    private static <T> Stream<T> given(@Nullable List<T> items) {
      return items == null ? Stream.empty() : items.stream();
    }

    private static boolean takesRequests(Endpoint endpoint) {
      EndpointConditions conditions = endpoint.getConditions();
      return given(endpoint.getAddresses()).findAny().isPresent()
          && (conditions == null
              || (!Boolean.FALSE.equals(conditions.getReady())
                  && !Boolean.TRUE.equals(conditions.getTerminating())));
    }

    /** The port of a slice's endpoints; 0 if that is not clear. */
    private int port(EndpointSlice slice) {
      if (config.port() > 0) {
        return config.port();
      }
      List<Integer> ports =
          given(slice.getPorts())
              .filter(port -> config.portName() == null || config.portName().equals(port.getName()))
              .map(EndpointPort::getPort)
              .filter(Objects::nonNull)
              .toList();
      return ports.size() == 1 ? ports.get(0) : 0;
    }

    /** All addresses of an endpoint are the same to clients. */
    private void add(Endpoint endpoint, int port, boolean isIpv6) {
      ObjectReference target = endpoint.getTargetRef();
      ObjectReference pod = target != null && "Pod".equals(target.getKind()) ? target : null;
      Ready found = new Ready(endpoint.getAddresses().get(0), port, isIpv6, pod);
      ready.merge(found.key(), found, (one, other) -> one.isIpv6 ? other : one);
    }
  }
}
