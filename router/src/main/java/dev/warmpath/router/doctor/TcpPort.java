package dev.warmpath.router.doctor;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Whether anything listens at a ZMQ endpoint. */
public final class TcpPort {

  private static final Pattern ENDPOINT = Pattern.compile("tcp://(.+):([0-9]{1,5})");

  private TcpPort() {}

  /** Why no connection can be made; null if one can, or the endpoint is none of TCP. */
  public static @Nullable String problem(String endpoint, Duration timeout) {
    Matcher parts = ENDPOINT.matcher(endpoint);
    if (!parts.matches()) {
      return null;
    }
    String host = parts.group(1).replaceAll("^\\[|]$", "");
    InetSocketAddress address = new InetSocketAddress(host, Integer.parseInt(parts.group(2)));
    if (address.isUnresolved()) {
      return "the host name '" + host + "' cannot be resolved";
    }
    try (Socket socket = new Socket()) {
      socket.connect(address, (int) timeout.toMillis());
      return null;
    } catch (SocketTimeoutException e) {
      return "no connection within " + timeout.toMillis() + " ms";
    } catch (IOException e) {
      return "nothing listens there (" + e.getMessage() + ")";
    }
  }
}
