package dev.warmpath.router.rig;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;

/** A client that writes HTTP by hand, to be as rude as it likes. */
public final class RawClient implements AutoCloseable {

  private final Socket socket = new Socket();

  public RawClient(int port) throws IOException {
    this(port, 0);
  }

  /** With a small receive buffer if {@code receiveBytes} is not 0. */
  public RawClient(int port, int receiveBytes) throws IOException {
    if (receiveBytes > 0) {
      socket.setReceiveBufferSize(receiveBytes);
    }
    socket.connect(new java.net.InetSocketAddress("127.0.0.1", port));
    socket.setSoTimeout((int) Rig.PATIENCE.toMillis());
  }

  public RawClient write(String text) throws IOException {
    socket.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
    return this;
  }

  public RawClient write(byte[] bytes) throws IOException {
    socket.getOutputStream().write(bytes);
    return this;
  }

  /** Says that nothing more will be sent, and goes on reading. */
  public RawClient endOutput() throws IOException {
    socket.shutdownOutput();
    return this;
  }

  /** Ends the connection without a word, and with what was received unread. */
  public void reset() throws IOException {
    socket.setSoLinger(true, 0);
    socket.close();
  }

  public RawClient post(String path, String body) throws IOException {
    return post(path, body, "");
  }

  /** Posts and asks for the connection to be closed after the response. */
  public RawClient postAndClose(String path, String body) throws IOException {
    return post(path, body, "connection: close\r\n");
  }

  private RawClient post(String path, String body, String headers) throws IOException {
    int length = body.getBytes(StandardCharsets.UTF_8).length;
    return write(
        "POST "
            + path
            + " HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
            + headers
            + "content-length: "
            + length
            + "\r\n\r\n"
            + body);
  }

  /** Reads until {@code text} has come. */
  public String readUntil(String text) throws IOException {
    ByteArrayOutputStream seen = new ByteArrayOutputStream();
    InputStream in = socket.getInputStream();
    while (!seen.toString(StandardCharsets.UTF_8).contains(text)) {
      int next = in.read();
      if (next < 0) {
        throw new IOException(
            "ended before '" + text + "': " + seen.toString(StandardCharsets.UTF_8));
      }
      seen.write(next);
    }
    return seen.toString(StandardCharsets.UTF_8);
  }

  /** Reads until the other side closes, however it does. */
  public String readToEnd() throws IOException {
    ByteArrayOutputStream seen = new ByteArrayOutputStream();
    byte[] buffer = new byte[8_192];
    try {
      InputStream in = socket.getInputStream();
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
        seen.write(buffer, 0, n);
      }
    } catch (SocketException e) {
      return seen.toString(StandardCharsets.UTF_8); // reset: an end as well
    }
    return seen.toString(StandardCharsets.UTF_8);
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
