package dev.warmpath.router.config;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import org.jspecify.annotations.Nullable;

/**
 * An address that this process listens at. No name is looked up but {@code localhost}: one of the
 * machine's other names is not recognised.
 *
 * <p>Immutable.
 *
 * @param host as it is configured, a wildcard too
 * @param port 0 for one that is not known, which nothing leads to
 */
record OwnAddress(String host, int port) {

  /** Whether a connection to this host and port would arrive here. */
  boolean isAt(String otherHost, int otherPort) {
    if (port == 0 || port != otherPort) {
      return false;
    }
    InetAddress own = address(host);
    InetAddress other = address(otherHost);
    if (own == null || other == null) {
      return host.equalsIgnoreCase(otherHost);
    }
    boolean same = own.equals(other) || (own.isLoopbackAddress() && isLocalhost(otherHost));
    return own.isAnyLocalAddress() ? isOfThisMachine(other) : same;
  }

  private static boolean isLocalhost(String host) {
    return host.equalsIgnoreCase("localhost");
  }

  private static @Nullable InetAddress address(String host) {
    String bare = host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
    try {
      if (isLocalhost(bare)) {
        return InetAddress.getLoopbackAddress();
      }
      return HostPattern.isAddress(bare) ? InetAddress.getByName(bare) : null;
    } catch (UnknownHostException e) {
      return null;
    }
  }

  private static boolean isOfThisMachine(InetAddress address) {
    try {
      return address.isLoopbackAddress()
          || address.isAnyLocalAddress()
          || NetworkInterface.getByInetAddress(address) != null;
    } catch (SocketException e) {
      return false;
    }
  }
}
