package dev.warmpath.lab.ingest;

import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The live sockets of many engines that send batches encoded beforehand, to one subscriber each.
 *
 * <p>Speaks ZMTP itself, in the thread that sends: a load beside which something is to be measured
 * should cost little, and a ZeroMQ socket's own thread costs more than what is measured.
 *
 * <p>Nothing is dropped once a subscriber is there: who sends waits for room in its connection.
 *
 * <p>Confined to the sending thread.
 */
final class BatchPublisher implements AutoCloseable {

  private final List<ServerSocketChannel> listeners = new ArrayList<>();
  private final List<@Nullable ZmtpPeer> peers = new ArrayList<>();

  /** Listens for each engine, on ports of the loopback that are free. */
  BatchPublisher(int engines) {
    try {
      for (int i = 0; i < engines; i++) {
        ServerSocketChannel listener = ServerSocketChannel.open();
        listeners.add(listener);
        peers.add(null);
        listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        listener.configureBlocking(false);
      }
    } catch (IOException e) {
      close();
      throw new UncheckedIOException(e);
    }
  }

  /** Where the engine with this number sends. */
  public String endpoint(int engine) {
    return "tcp://127.0.0.1:" + listeners.get(engine).socket().getLocalPort();
  }

  /** Sends one batch of an engine; dropped as long as nobody has connected. */
  public void send(int engine, long sequence, byte[] payload) {
    try {
      ZmtpPeer peer = peers.get(engine);
      if (peer == null) {
        peer = ZmtpPeer.accept(listeners.get(engine));
        peers.set(engine, peer);
      }
      if (peer != null) {
        peer.send(sequence, payload);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("engine=" + engine, e);
    }
  }

  @Override
  public void close() {
    try {
      for (ZmtpPeer peer : peers) {
        if (peer != null) {
          peer.close();
        }
      }
      for (ServerSocketChannel listener : listeners) {
        listener.close();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * One subscriber of a publisher that speaks ZMTP 3.0 (RFC 23) with the NULL mechanism, and takes
   * for granted that everything is subscribed to.
   *
   * <p>Confined to its thread.
   */
  private static final class ZmtpPeer implements AutoCloseable {

    private static final int HANDSHAKE_MILLIS = 1_000;
    private static final int GREETING_BYTES = 64;

    /**
     * Of the greeting, the part that is answered before the rest is sent, as libzmq does. JeroMQ,
     * which may lose a connection's place in its selector while it connects, notices that only
     * while a greeting is incomplete.
     */
    private static final int SIGNATURE_BYTES = 10;

    private static final int MECHANISM_AT = 12;
    private static final byte MORE = 1;
    private static final byte LONG = 2;
    private static final byte COMMAND = 4;
    private static final int MOST_SHORT = 255;

    /** Flags and length of three frames, topic and sequence among them. */
    private static final int MOST_AROUND = 32;

    private final SocketChannel channel;
    private ByteBuffer out = ByteBuffer.allocateDirect(1 << 16);

    private ZmtpPeer(SocketChannel channel) {
      this.channel = channel;
    }

    /**
     * Shakes hands with who has connected, if somebody has; returns once it has subscribed, or null
     * if it gave up: it will connect again.
     */
    static @Nullable ZmtpPeer accept(ServerSocketChannel listener) throws IOException {
      SocketChannel channel = listener.accept();
      if (channel == null) {
        return null;
      }
      ZmtpPeer peer = new ZmtpPeer(channel);
      try {
        channel.configureBlocking(true);
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        channel.socket().setSoTimeout(HANDSHAKE_MILLIS);
        peer.shakeHands();
        return peer;
      } catch (IOException e) {
        peer.close();
        return null;
      }
    }

    /** Sends topic (empty), sequence and payload as one message. */
    void send(long sequence, byte[] payload) throws IOException {
      if (out.capacity() < payload.length + MOST_AROUND) {
        out = ByteBuffer.allocateDirect(2 * payload.length + MOST_AROUND);
      }
      out.clear().put(MORE).put((byte) 0);
      out.put(MORE).put((byte) Long.BYTES).putLong(sequence);
      if (payload.length <= MOST_SHORT) {
        out.put((byte) 0).put((byte) payload.length);
      } else {
        out.put(LONG).putLong(payload.length);
      }
      write(out.put(payload));
    }

    @Override
    public void close() throws IOException {
      channel.close();
    }

    private void shakeHands() throws IOException {
      byte[] greeting = new byte[GREETING_BYTES];
      greeting[0] = (byte) 0xff;
      greeting[9] = 0x7f;
      greeting[10] = 3;
      byte[] mechanism = ascii("NULL");
      System.arraycopy(mechanism, 0, greeting, MECHANISM_AT, mechanism.length);
      int rest = GREETING_BYTES - SIGNATURE_BYTES;
      write(ByteBuffer.allocate(SIGNATURE_BYTES).put(greeting, 0, SIGNATURE_BYTES));
      read(SIGNATURE_BYTES);
      write(ByteBuffer.allocate(rest).put(greeting, SIGNATURE_BYTES, rest));
      byte[] theirs = read(rest);
      int theirMechanismAt = MECHANISM_AT - SIGNATURE_BYTES;
      if (!Arrays.equals(
          theirs,
          theirMechanismAt,
          theirMechanismAt + mechanism.length,
          mechanism,
          0,
          mechanism.length)) {
        throw new IOException("the subscriber wants a mechanism other than NULL");
      }
      readFrame(); // its READY
      write(ready());
      readFrame(); // its subscription
    }

    private static ByteBuffer ready() {
      byte[] name = ascii("READY");
      byte[] key = ascii("Socket-Type");
      byte[] value = ascii("PUB");
      ByteBuffer body = ByteBuffer.allocate(MOST_SHORT);
      body.put((byte) name.length).put(name).put((byte) key.length).put(key);
      body.putInt(value.length).put(value).flip();
      return ByteBuffer.allocate(MOST_SHORT).put(COMMAND).put((byte) body.remaining()).put(body);
    }

    private void write(ByteBuffer filled) throws IOException {
      filled.flip();
      while (filled.hasRemaining()) {
        channel.write(filled);
      }
    }

    private void readFrame() throws IOException {
      byte[] head = read(2);
      if ((head[0] & LONG) != 0) {
        throw new IOException("the subscriber sent a long frame in the handshake");
      }
      read(head[1] & MOST_SHORT);
    }

    private byte[] read(int bytes) throws IOException {
      byte[] in = channel.socket().getInputStream().readNBytes(bytes);
      if (in.length < bytes) {
        throw new EOFException("the subscriber left during the handshake");
      }
      return in;
    }

    private static byte[] ascii(String text) {
      return text.getBytes(StandardCharsets.US_ASCII);
    }
  }
}
