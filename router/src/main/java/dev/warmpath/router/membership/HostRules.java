package dev.warmpath.router.membership;

import dev.warmpath.router.config.ReplicaConfig;
import dev.warmpath.router.host.AddressRange;
import dev.warmpath.router.host.HostPattern;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Which hosts replicas that are added at run time may have, so that nobody makes the router connect
 * to what it should not. Replicas of the configuration are not judged.
 *
 * <p>Thread-safe. Looks up names, so it is not for event loops.
 */
public final class HostRules implements ReplicaCheck {

  private final List<HostPattern> allowed;

  /**
   * Rules by the key {@code fleet.allowed-hosts}.
   *
   * @param allowed empty for addresses of this machine and of private networks
   */
  public HostRules(List<HostPattern> allowed) {
    this.allowed = List.copyOf(allowed);
  }

  @Override
  public @Nullable String refusal(String source, ReplicaConfig replica) {
    if (source.equals(Membership.CONFIGURATION)) {
      return null;
    }
    if (replica.bind()) {
      return "only a replica of the configuration may have 'bind'";
    }
    return Stream.of(host(replica.url().getHost()), host(replica.events()), host(replica.replay()))
        .map(this::refusal)
        .filter(reason -> reason != null)
        .findFirst()
        .orElse(null);
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

  private @Nullable String refusal(String host) {
    if (host.isEmpty()) {
      return null;
    }
    if (host.contains("://") || host.contains("*")) {
      return "'" + host + "' is no endpoint for a replica that is added at run time";
    }
    try {
      for (InetAddress address : InetAddress.getAllByName(host)) {
        if (!isAllowed(host, address)) {
          return "host '%s' (%s) is not in fleet.allowed-hosts"
              .formatted(host, address.getHostAddress());
        }
      }
      return null;
    } catch (UnknownHostException e) {
      return "host '" + host + "' is unknown";
    }
  }

  private boolean isAllowed(String host, InetAddress address) {
    if (AddressRange.isForbidden(address)) {
      return false;
    }
    if (allowed.isEmpty()) {
      return AddressRange.isPrivate(address);
    }
    return allowed.stream().anyMatch(pattern -> pattern.matches(host, address));
  }
}
