package dev.warmpath.router.members;

import dev.warmpath.router.config.DiscoveryConfig;
import io.fabric8.kubernetes.api.model.ObjectReference;
import io.fabric8.kubernetes.api.model.discovery.v1.Endpoint;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointConditions;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointPort;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSlice;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The endpoints in EndpointSlices that take requests: ready and not terminating, each once, by IPv4
 * if it has that.
 *
 * <p>Confined to one thread.
 */
final class ReadyEndpoints {

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
