package dev.warmpath.lab.gateway;

import dev.warmpath.lab.gateway.Gateway.PeerAddress;
import java.nio.file.Path;
import java.util.List;

/**
 * What is measured where.
 *
 * @param ports of the stub replicas; 0 for any
 * @param peers gateways in front of them that run already, or soon will
 * @param tokenizer of our router: a directory, {@code embedded}, or what else {@code serve} takes
 * @param serveFlags more flags for our router
 * @param directory for the logs
 */
record GatewaySetup(
    List<Integer> ports,
    List<PeerAddress> peers,
    String tokenizer,
    List<String> serveFlags,
    Path directory) {

  private static final int LAST_PORT = 65_535;

  GatewaySetup {
    ports = List.copyOf(ports);
    peers = List.copyOf(peers);
    serveFlags = List.copyOf(serveFlags);
    for (int port : ports) {
      if (port < 0 || port > LAST_PORT) {
        throw new IllegalArgumentException("port " + port + " is not 0 to " + LAST_PORT);
      }
    }
    if (ports.isEmpty()
        || peers.stream().map(PeerAddress::name).distinct().count() < peers.size()) {
      throw new IllegalArgumentException("no ports, or two peers of one name");
    }
  }

  Path log(String name) {
    return directory.resolve(name + ".log");
  }
}
