package dev.warmpath.router.host;

import java.net.InetAddress;
import java.util.Locale;

/**
 * Hosts that replicas may have: a range of addresses, a name, or {@code *.name} for all names
 * below.
 *
 * <p>Immutable.
 */
public sealed interface HostPattern {

  /**
   * Reads a pattern.
   *
   * @throws IllegalArgumentException if it has a slash and is no range
   */
  static HostPattern of(String text) {
    return text.indexOf('/') >= 0 || AddressRange.isAddress(text)
        ? new Range(AddressRange.of(text))
        : new Name(text.toLowerCase(Locale.ROOT));
  }

  /**
   * Whether it stands for a host.
   *
   * @param host its name, in lower case, or address
   * @param address one of its addresses
   */
  boolean matches(String host, InetAddress address);

  /** A range of addresses. */
  record Range(AddressRange addresses) implements HostPattern {

    @Override
    public boolean matches(String host, InetAddress address) {
      return addresses.contains(address);
    }
  }

  /** A host name. */
  record Name(String pattern) implements HostPattern {

    @Override
    public boolean matches(String host, InetAddress address) {
      return pattern.startsWith("*.") ? host.endsWith(pattern.substring(1)) : host.equals(pattern);
    }
  }
}
