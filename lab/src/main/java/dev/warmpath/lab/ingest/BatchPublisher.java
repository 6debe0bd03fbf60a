package dev.warmpath.lab.ingest;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.util.ArrayList;
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
}
