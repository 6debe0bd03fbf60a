package dev.warmpath.router.members;

import dev.warmpath.router.config.ClusterConfig;
import dev.warmpath.router.members.DnsClient.Search;
import io.fabric8.kubernetes.api.model.discovery.v1.Endpoint;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSlice;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Where the routers of a cluster are: a list, the addresses of a name, or all endpoints of a
 * Service, ready or not, since a router that waits for another's state is not ready. This router
 * may be among them.
 *
 * <p>Looks are confined to one thread; {@link #close} may be called by any.
 */
public final class PeerAddresses implements AutoCloseable {

  private final ClusterConfig config;
  private final @Nullable DnsClient dns;
  private final @Nullable KubernetesConnection kubernetes;

  /**
   * @param config of a mesh
   */
  public PeerAddresses(ClusterConfig config) {
    this(
        config,
        config.dns() == null ? null : new DnsClient((InetSocketAddress) null, Search.ofTheSystem()),
        config.service() == null
            ? null
            : new KubernetesConnection(() -> Config.autoConfigure(null)));
  }

  PeerAddresses(
      ClusterConfig config, @Nullable DnsClient dns, @Nullable KubernetesConnection kubernetes) {
    this.config = config;
    this.dns = dns;
    this.kubernetes = kubernetes;
  }

  /** Takes what is to be run, by any thread, when there may be other addresses. */
  public void onChange(Runnable wake) {
    if (kubernetes != null) {
      kubernetes.onChange(wake);
    }
  }

  /**
   * Looks once, in bounded time.
   *
   * @throws IOException if it cannot be known now; its message says why
   */
  public List<InetSocketAddress> look() throws IOException {
    if (dns != null) {
      return dns.addresses(String.valueOf(config.dns())).records().stream()
          .map(address -> new InetSocketAddress(address, config.port()))
          .toList();
    }
    return kubernetes == null ? listed() : ofService(kubernetes);
  }

  /** A host without an address is one that does not run yet. */
  private List<InetSocketAddress> listed() {
    List<InetSocketAddress> found = new ArrayList<>();
    for (String peer : config.peers()) {
      int colon = peer.endsWith("]") ? -1 : peer.lastIndexOf(':');
      String host = colon < 0 ? peer : peer.substring(0, colon);
      int port = colon < 0 ? config.port() : Integer.parseInt(peer.substring(colon + 1));
      try {
        for (InetAddress address : InetAddress.getAllByName(host)) {
          found.add(new InetSocketAddress(address, port));
        }
      } catch (IOException e) {
        // looked for again
      }
    }
    return found;
  }

  private List<InetSocketAddress> ofService(KubernetesConnection connection) throws IOException {
    try {
      String own = connection.client().getNamespace();
      String namespace =
          config.namespace() == null
              ? Objects.requireNonNullElse(own, "default")
              : config.namespace();
      String labels = KubernetesLook.OF_SERVICE + config.service();
      return connection.slices(namespace, labels).stream()
          .flatMap(PeerAddresses::endpoints)
          .flatMap(endpoint -> Optional.ofNullable(endpoint.getAddresses()).stream())
          .flatMap(List::stream)
          .map(address -> new InetSocketAddress(address, config.port()))
          .toList();
    } catch (KubernetesClientException e) {
      throw new IOException(KubernetesLook.why(e), e);
    }
  }

  /** A server gives null for a list without items. */
  private static Stream<Endpoint> endpoints(EndpointSlice slice) {
    return slice.getEndpoints() == null ? Stream.empty() : slice.getEndpoints().stream();
  }

  @Override
  public void close() {
    if (kubernetes != null) {
      kubernetes.close();
    }
  }
}
