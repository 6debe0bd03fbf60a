package dev.warmpath.router.members;

import dev.warmpath.router.config.HostPattern;
import dev.warmpath.router.config.ReplicaConfig;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which hosts replicas that are added at run time may have, so that nobody makes the router connect
 * to what it should not. Replicas of the configuration are not judged. What a name stood for when
 * it was judged is connected to: a name that is looked up again may stand for something else.
 *
 * <p>Thread-safe. Looks up names, so it is not for event loops.
 */
public final class HostRules implements ReplicaCheck {

  /** Finds all addresses of a name. */
  @FunctionalInterface
  interface Lookup {
    InetAddress[] all(String host) throws UnknownHostException;
  }

  private final List<HostPattern> allowed;
  private final Lookup lookup;

  /**
   * Rules by the key {@code fleet.allowed-hosts}.
   *
   * @param allowed empty for addresses of this machine and of private networks
   */
  public HostRules(List<HostPattern> allowed) {
    this(allowed, InetAddress::getAllByName);
  }

  HostRules(List<HostPattern> allowed, Lookup lookup) {
    this.allowed = List.copyOf(allowed);
    this.lookup = lookup;
  }

  @Override
  public Verdict judge(String source, ReplicaConfig replica) {
    if (source.equals(Membership.CONFIGURATION)) {
      return Verdict.ALLOWED;
    }
    if (replica.bind()) {
      return Verdict.refused("only a replica of the configuration may have 'bind'");
    }
    Map<String, List<String>> addresses = new HashMap<>();
    for (String host : hosts(replica)) {
      try {
        List<InetAddress> found = addresses(host);
        String refusal = refusal(host, found);
        if (refusal != null) {
          return Verdict.refused(refusal);
        }
        if (!HostPattern.isAddress(host)) {
          addresses.put(host, found.stream().map(InetAddress::getHostAddress).toList());
        }
      } catch (UnknownHostException e) {
        return new Verdict("host '" + host + "' is unknown", Map.of(), false);
      }
    }
    return new Verdict(null, addresses, true);
  }

  /**
   * Only at the replica's own addresses, or where the key allows it: that private networks are
   * allowed by default is for those who add replicas, not for engines.
   */
  @Override
  public boolean mayFollow(ReplicaConfig replica, String host) {
    String bare = host(host);
    if (!HostPattern.isAddress(bare)) {
      return false; // a name may stand for something else when it is connected to
    }
    try {
      InetAddress named = lookup.all(bare)[0];
      return List.of(lookup.all(host(replica.url().getHost()))).contains(named)
          || (!allowed.isEmpty() && isAllowed(bare, named));
    } catch (UnknownHostException e) {
      return false;
    }
  }

  private static Set<String> hosts(ReplicaConfig replica) {
    Set<String> hosts = new LinkedHashSet<>();
    hosts.add(host(replica.url().getHost()));
    for (int rank = 0; rank < replica.ranks(); rank++) {
      hosts.add(host(replica.eventsOf(rank)));
      hosts.add(host(replica.replayOf(rank)));
    }
    hosts.remove("");
    return hosts;
  }

  private List<InetAddress> addresses(String host) throws UnknownHostException {
    return host.contains("://") || host.contains("*") ? List.of() : List.of(lookup.all(host));
  }

  /** The host of a URL or of a ZMQ endpoint, without port and brackets; empty for none. */
  private static String host(@Nullable String text) {
    if (text == null) {
      return "";
    }
    int scheme = text.indexOf("://");
    int port = scheme < 0 ? text.length() : text.lastIndexOf(':');
    String host = scheme < 0 ? text : text.substring(scheme + 3, Math.max(port, scheme + 3));
    boolean local = scheme >= 0 && !text.startsWith("tcp://");
    String bare = host.startsWith("[") ? host.replaceAll("[\\[\\]]", "") : host;
    return local ? text : bare.toLowerCase(Locale.ROOT);
  }

  private @Nullable String refusal(String host, List<InetAddress> addresses) {
    if (addresses.isEmpty()) {
      return "'" + host + "' is no endpoint for a replica that is added at run time";
    }
    for (InetAddress address : addresses) {
      if (!isAllowed(host, address)) {
        return "host '%s' (%s) is not in fleet.allowed-hosts"
            .formatted(host, address.getHostAddress());
      }
    }
    return null;
  }

  private boolean isAllowed(String host, InetAddress address) {
    if (HostPattern.isForbidden(address)) {
      return false;
    }
    if (allowed.isEmpty()) {
      return HostPattern.isPrivate(address);
    }
    return allowed.stream().anyMatch(pattern -> pattern.matches(host, address));
  }
}
