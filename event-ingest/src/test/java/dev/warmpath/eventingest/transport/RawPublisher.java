package dev.warmpath.eventingest.transport;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.wire.StreamMessage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.ByteBuffer;

/**
 * A publisher that writes ZMTP byte by byte, so that it can write what no library does. Sends its
 * whole greeting at once; some libraries do.
 *
 * <p>Confined to its test.
 */
final class RawPublisher implements AutoCloseable {

  /** Flags of a frame. */
  static final int LAST = 0;

  static final int MORE = 1;
  private static final int LONG = 2;
  private static final int LIMIT_MILLIS = 20_000;

  private final Socket peer;

  private RawPublisher(Socket peer) {
    this.peer = peer;
  }

  /** A port for one publisher. */
  static ServerSocket listen() throws IOException {
    ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    listener.setSoTimeout(LIMIT_MILLIS);
    return listener;
  }

  static String endpoint(ServerSocket listener) {
    return "tcp://127.0.0.1:" + listener.getLocalPort();
  }

  /** Waits for the subscriber and shakes hands. */
  static RawPublisher accept(ServerSocket listener) throws IOException {
    RawPublisher publisher = new RawPublisher(listener.accept());
    publisher.shakeHands();
    return publisher;
  }

  /** Connects to a subscriber that has bound its endpoint, and shakes hands. */
  static RawPublisher connect(String endpoint) throws IOException {
    URI uri = URI.create(endpoint);
    RawPublisher publisher = new RawPublisher(new Socket(uri.getHost(), uri.getPort()));
    publisher.shakeHands();
    return publisher;
  }

  private void shakeHands() throws IOException {
    peer.setSoTimeout(LIMIT_MILLIS);
    byte[] greeting = new byte[64];
    greeting[0] = (byte) 0xff;
    greeting[9] = 0x7f;
    greeting[10] = 3;
    System.arraycopy("NULL".getBytes(US_ASCII), 0, greeting, 12, 4);
    write(greeting);
    InputStream in = peer.getInputStream();
    assertThat(in.readNBytes(64)).hasSize(64);
    skipFrame(in);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes(new byte[] {4, 25, 5});
    out.writeBytes("READY".getBytes(US_ASCII));
    out.write(11);
    out.writeBytes("Socket-Type".getBytes(US_ASCII));
    out.writeBytes(new byte[] {0, 0, 0, 3});
    out.writeBytes("PUB".getBytes(US_ASCII));
    write(out.toByteArray());
    skipFrame(in);
  }

  /** Publishes a batch of one byte. */
  void publish(long sequence) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes(new byte[] {MORE, 0, MORE, Long.BYTES});
    out.writeBytes(StreamMessage.sequenceFrame(sequence));
    out.writeBytes(new byte[] {LAST, 1, 0});
    write(out.toByteArray());
  }

  /** Sends one frame. */
  void frame(int flags, byte[] content) throws IOException {
    declare(flags, content.length);
    write(content);
  }

  /** Sends the head of a frame of any length. */
  void declare(int flags, long length) throws IOException {
    write(ByteBuffer.allocate(9).put((byte) (LONG | flags)).putLong(length).array());
  }

  private void write(byte[] bytes) throws IOException {
    peer.getOutputStream().write(bytes);
  }

  private static void skipFrame(InputStream in) throws IOException {
    byte[] head = in.readNBytes(2);
    assertThat(in.readNBytes(head[1])).hasSize(head[1]);
  }

  @Override
  public void close() throws IOException {
    peer.close();
  }
}
