package dev.warmpath.router.host;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A range of IP addresses, as CIDR writes it.
 *
 * <p>Immutable.
 */
public final class AddressRange {

  private static final Pattern ADDRESS = Pattern.compile("[0-9]+(\\.[0-9]+){3}|[0-9A-Fa-f:.]*:.*");

  private static final List<AddressRange> PRIVATE =
      Stream.of(
              "127.0.0.0/8",
              "10.0.0.0/8",
              "172.16.0.0/12",
              "192.168.0.0/16",
              "100.64.0.0/10",
              "::1/128",
              "fc00::/7")
          .map(AddressRange::of)
          .toList();

  /** Where clouds tell machines their secrets, and what is no single host. */
  private static final List<AddressRange> FORBIDDEN =
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
          .map(AddressRange::of)
          .toList();

  private final byte[] network;
  private final int bits;

  private AddressRange(byte[] network, int bits) {
    this.network = network;
    this.bits = bits;
  }

  /**
   * The range that {@code cidr} writes; a single address is one of its own.
   *
   * @throws IllegalArgumentException if it writes none
   */
  static AddressRange of(String cidr) {
    String[] parts = cidr.split("/", 2);
    if (!isAddress(parts[0])) {
      throw new IllegalArgumentException("'" + cidr + "' is no range of addresses");
    }
    byte[] network = bytes(parts[0]);
    int most = network.length * Byte.SIZE;
    int bits = parts.length < 2 ? most : bits(cidr, parts[1]);
    if (bits > most) {
      throw new IllegalArgumentException("'" + cidr + "' is no range of addresses");
    }
    return new AddressRange(network, bits);
  }

  private static int bits(String cidr, String text) {
    if (!text.matches("[0-9]{1,3}")) {
      throw new IllegalArgumentException("'" + cidr + "' is no range of addresses");
    }
    return Integer.parseInt(text);
  }

  private static byte[] bytes(String address) {
    try {
      return InetAddress.getByName(address).getAddress();
    } catch (UnknownHostException e) {
      throw new IllegalArgumentException("'" + address + "' is no address", e);
    }
  }

  /** Whether it looks like an address and not like a name. */
  public static boolean isAddress(String text) {
    return ADDRESS.matcher(text).matches();
  }

  /** Whether nothing may ever be connected to it that was not configured. */
  public static boolean isForbidden(InetAddress address) {
    return FORBIDDEN.stream().anyMatch(range -> range.contains(address));
  }

  /** Whether it is of this machine or of a private network. */
  public static boolean isPrivate(InetAddress address) {
    return PRIVATE.stream().anyMatch(range -> range.contains(address));
  }

  boolean contains(InetAddress address) {
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
