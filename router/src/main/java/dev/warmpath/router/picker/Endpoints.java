package dev.warmpath.router.picker;

import dev.warmpath.router.fleet.Fleet;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.upstream.Upstreams;
import io.netty.util.NetUtil;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.internal.VertxInternal;
import io.vertx.core.net.SocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The replicas as a gateway names them, {@code ip:port}: a host's name is looked up here, since a
 * gateway connects to what it is told.
 *
 * <p>Confined to its event loop.
 */
final class Endpoints {

  /** So often names are looked up again; the resolver keeps them for as long as they hold. */
  static final long LOOK_UP_MS = 5_000;

  private final Fleet fleet;
  private final Upstreams upstreams;
  private final Vertx vertx;

  private final Map<Replica, String> known = new HashMap<>();

  Endpoints(Fleet fleet, Upstreams upstreams, Vertx vertx) {
    this.fleet = fleet;
    this.upstreams = upstreams;
    this.vertx = vertx;
  }

  /** Looks up all names, and forgets replicas that have left. */
  void lookUp() {
    List<Replica> replicas = fleet.replicas();
    known.keySet().retainAll(new HashSet<>(replicas));
    for (Replica replica : replicas) {
      if (literal(replica) == null) {
        var unused = resolve(replica);
      }
    }
  }

  /** The replica's endpoint; null as long as its name was not looked up. */
  @Nullable String known(Replica replica) {
    String found = known.get(replica);
    if (found == null) {
      found = literal(replica);
      if (found != null) {
        known.put(replica, found);
      }
    }
    return found;
  }

  /** The same, looked up if need be; fails if there is no such name. */
  Future<String> of(Replica replica) {
    String found = known(replica);
    return found == null ? resolve(replica) : Future.succeededFuture(found);
  }

  private Future<String> resolve(Replica replica) {
    RequestOptions at = upstreams.of(replica).options();
    return ((VertxInternal) vertx)
        .nameResolver()
        .resolve(at.getHost())
        .map(address -> endpoint(address.getHostAddress(), at.getPort()))
        .onSuccess(found -> known.put(replica, found));
  }

  private @Nullable String literal(Replica replica) {
    RequestOptions at = upstreams.of(replica).options();
    String host = at.getServer() instanceof SocketAddress given ? given.host() : at.getHost();
    boolean isAddress = NetUtil.isValidIpV4Address(host) || NetUtil.isValidIpV6Address(host);
    return isAddress ? endpoint(host, at.getPort()) : null;
  }

  private static String endpoint(String address, int port) {
    return (address.contains(":") ? "[" + address + "]" : address) + ":" + port;
  }

  /**
   * Names of the replicas behind these endpoints.
   *
   * @param listed {@code ip:port}, or an address alone for all its ports
   */
  Set<String> replicas(List<String> listed) {
    Set<String> wanted = new HashSet<>(listed);
    Set<String> names = new HashSet<>();
    for (Replica replica : fleet.replicas()) {
      String endpoint = known(replica);
      if (endpoint != null && (wanted.contains(endpoint) || wanted.contains(address(endpoint)))) {
        names.add(replica.name());
      }
    }
    return names;
  }

  private static String address(String endpoint) {
    String address = endpoint.substring(0, endpoint.lastIndexOf(':'));
    return address.startsWith("[") ? address.substring(1, address.length() - 1) : address;
  }

  /** The replicas at one endpoint; several if their models share a server. */
  List<Replica> at(String endpoint) {
    List<Replica> found = new ArrayList<>();
    for (Replica replica : fleet.replicas()) {
      if (endpoint.equals(known(replica))) {
        found.add(replica);
      }
    }
    return found;
  }
}
