package dev.warmpath.router.config;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Stream;

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
    return text.indexOf('/') >= 0 || isAddress(text)
        ? Range.of(text)
        : new Name(text.toLowerCase(Locale.ROOT));
  }

  /** Whether it looks like an address and not like a name. */
  static boolean isAddress(String text) {
    return Range.ADDRESS.matcher(text).matches();
  }

  /** Whether nothing may ever be connected to it that was not configured. */
  static boolean isForbidden(InetAddress address) {
    return Range.FORBIDDEN.stream().anyMatch(range -> range.contains(address));
  }

  /** Whether it is of this machine or of a private network. */
  static boolean isPrivate(InetAddress address) {
    return Range.PRIVATE.stream().anyMatch(range -> range.contains(address));
  }

  /**
   * Whether it stands for a host.
   *
   * @param host its name, in lower case, or address
   * @param address one of its addresses
   */
  boolean matches(String host, InetAddress address);

  /** A host name. */
  record Name(String pattern) implements HostPattern {

    @Override
    public boolean matches(String host, InetAddress address) {
      return pattern.startsWith("*.") ? host.endsWith(pattern.substring(1)) : host.equals(pattern);
    }
  }

  /** A range of IP addresses, as CIDR writes it; a single address is one of its own. */
  final class Range implements HostPattern {

    private static final Pattern ADDRESS =
        Pattern.compile("[0-9]+(\\.[0-9]+){3}|[0-9A-Fa-f:.]*:.*");

    /** Of this machine, and of private networks. */
    private static final List<Range> PRIVATE =
        Stream.of(
                "127.0.0.0/8",
                "10.0.0.0/8",
                "172.16.0.0/12",
                "192.168.0.0/16",
                "100.64.0.0/10",
                "::1/128",
                "fc00::/7")
            .map(Range::of)
            .toList();

    /** Where clouds tell machines their secrets, and what is no single host. */
    private static final List<Range> FORBIDDEN =
        Stream.of(
                "0.0.0.0/8",
                "169.254.0.0/16",
                "100.100.100.200/32",
                "168.63.129.16/32",
                "192.0.0.192/32",
                "224.0.0.0/3",
                "::/128",
                "fe80::/10",
                "fd00:ec2::254/128",
                "fd20:ce::254/128",
                "ff00::/8",
                "64:ff9b::/96",
                "2002::/16")
            .map(Range::of)
            .toList();

    private final byte[] network;
    private final int bits;

    private Range(byte[] network, int bits) {
      this.network = network;
      this.bits = bits;
    }

    private static Range of(String cidr) {
      String[] parts = cidr.split("/", 2);
      byte[] network = isAddress(parts[0]) ? bytes(parts[0]) : new byte[0];
      int most = network.length * Byte.SIZE;
      boolean isNumber = parts.length < 2 || parts[1].matches("[0-9]{1,3}");
      int bits = parts.length < 2 || !isNumber ? most : Integer.parseInt(parts[1]);
      if (most == 0 || !isNumber || bits > most) {
        throw new IllegalArgumentException("'" + cidr + "' is no range of addresses");
      }
      return new Range(network, bits);
    }

    private static byte[] bytes(String address) {
      try {
        return InetAddress.getByName(address).getAddress();
      } catch (UnknownHostException e) {
        throw new IllegalArgumentException("'" + address + "' is no address", e);
      }
    }

    @Override
    public boolean matches(String host, InetAddress address) {
      return contains(address);
    }

    private boolean contains(InetAddress address) {
      byte[] bytes = address.getAddress();
      int whole = bits / Byte.SIZE;
      if (bytes.length != network.length || !Arrays.equals(bytes, 0, whole, network, 0, whole)) {
        return false;
      }
      int rest = bits % Byte.SIZE;
      int mask = 0xff00 >> rest & 0xff;
      return rest == 0 || (bytes[whole] & mask) == (network[whole] & mask);
    }
  }
}
