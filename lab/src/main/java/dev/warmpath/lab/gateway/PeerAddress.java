package dev.warmpath.lab.gateway;

import java.net.InetSocketAddress;
import java.net.URI;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A gateway that somebody else has started, in front of the stub replicas.
 *
 * @param pid its process, whose children count too; {@link #UNKNOWN}: those that listen on its port
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
      throw new IllegalArgumentException("'" + text + "' must be NAME=http://HOST:PORT[,pid=PID]");
    }
    URI url = URI.create(form.group(2));
    String host = url.getHost();
    if (host == null || url.getPort() < 1) {
      throw new IllegalArgumentException("'" + text + "' must have a host and a port");
    }
    String name = form.group(1);
    if (name.equals(GatewayReport.DIRECT) || name.equals(GatewayReport.OURS)) {
      throw new IllegalArgumentException("'" + name + "' is measured anyway; choose another name");
    }
    long pid = form.group(3) == null ? UNKNOWN : Long.parseLong(form.group(3));
    return new PeerAddress(name, host, url.getPort(), pid);
  }
}
