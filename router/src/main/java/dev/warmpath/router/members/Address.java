package dev.warmpath.router.members;

import dev.warmpath.router.config.ReplicaConfig;
import dev.warmpath.router.config.ReplicaTemplate;
import dev.warmpath.router.config.read.ConfigException;
import java.util.Map;

/**
 * Where a replica was found.
 *
 * <p>Immutable.
 *
 * @param name what {@code {name}} stands for
 * @param host address or host name, an IPv6 address without brackets
 * @param ports ports that it has for the keys {@code events} and {@code replay}
 * @param keys what is known of its replica, by key: text, Long or a list of text
 */
public record Address(
    String name, String host, int port, Map<String, Integer> ports, Map<String, Object> keys) {

  public Address {
    ports = Map.copyOf(ports);
    keys = Map.copyOf(keys);
  }

  public Address(String name, String host, int port) {
    this(name, host, port, Map.of(), Map.of());
  }

  /** A name for a replica of which only the address is known. */
  public static String name(String host) {
    return host.replace(':', '-');
  }

  ReplicaConfig replica(ReplicaTemplate template) throws ConfigException {
    Map<String, String> values =
        Map.of("name", name, "host", bracketed(), "port", Integer.toString(port));
    return template.replica(toString(), values, ports, keys);
  }

  private String bracketed() {
    return host.indexOf(':') < 0 ? host : "[" + host + "]";
  }

  @Override
  public String toString() {
    return bracketed() + ":" + port;
  }
}
