package dev.warmpath.lab.gateway;

import dev.warmpath.lab.bench.ProcFiles;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Something that takes requests for the stub replicas, or the replicas themselves.
 *
 * @param addresses where requests go, in turns
 * @param pids its processes; empty for the replicas themselves
 */
record Gateway(String name, List<InetSocketAddress> addresses, Set<Long> pids) {

  Gateway {
    addresses = List.copyOf(addresses);
    pids = Set.copyOf(pids);
  }

  /** The replicas themselves. */
  static Gateway direct(List<Integer> ports) {
    return new Gateway(
        GatewayReport.DIRECT, ports.stream().map(Gateway::loopback).toList(), Set.of());
  }

  static InetSocketAddress loopback(int port) {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
  }

  /**
   * One that runs already.
   *
   * @throws IOException if its processes cannot be found
   */
  static Gateway of(PeerAddress peer, ProcFiles proc) throws IOException {
    boolean byPort = peer.pid() == PeerAddress.UNKNOWN;
    Set<Long> pids = byPort ? proc.listeners(peer.port()) : family(peer.pid());
    if (pids.isEmpty()) {
      String problem =
          byPort
              ? "no process is seen to listen on port %d; name it by pid=".formatted(peer.port())
              : "there is no process " + peer.pid();
      throw new IOException(peer.name() + ": " + problem);
    }
    return new Gateway(peer.name(), List.of(peer.socketAddress()), pids);
  }

  /** A process and all that it has started; empty if it has ended. */
  private static Set<Long> family(long pid) {
    return ProcessHandle.of(pid).stream()
        .flatMap(process -> Stream.concat(Stream.of(process), process.descendants()))
        .map(ProcessHandle::pid)
        .collect(Collectors.toSet());
  }

  /**
   * A gateway that somebody else has started, in front of the stub replicas.
   *
   * @param pid its process, whose children count too; {@link #UNKNOWN}: those that listen on its
   *     port
   */
  record PeerAddress(String name, String host, int port, long pid) {

    static final long UNKNOWN = -1;

    private static final Pattern FORM =
        Pattern.compile("([A-Za-z0-9._-]{1,40})=(http://[^,]+)(?:,pid=([0-9]{1,10}))?");

    InetSocketAddress socketAddress() {
      return new InetSocketAddress(host, port);
    }

    /**
     * Reads {@code NAME=URL[,pid=PID]}.
     *
     * @throws IllegalArgumentException if it is something else
     */
    static PeerAddress parse(String text) {
      Matcher form = FORM.matcher(text);
      if (!form.matches()) {
        throw new IllegalArgumentException(
            "'" + text + "' must be NAME=http://HOST:PORT[,pid=PID]");
      }
      URI url = URI.create(form.group(2));
      String host = url.getHost();
      if (host == null || url.getPort() < 1) {
        throw new IllegalArgumentException("'" + text + "' must have a host and a port");
      }
      String name = form.group(1);
      if (name.equals(GatewayReport.DIRECT) || name.equals(GatewayReport.OURS)) {
        throw new IllegalArgumentException(
            "'" + name + "' is measured anyway; choose another name");
      }
      long pid = form.group(3) == null ? UNKNOWN : Long.parseLong(form.group(3));
      return new PeerAddress(name, host, url.getPort(), pid);
    }
  }
}
