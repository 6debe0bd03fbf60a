package dev.warmpath.simulator.live.publish;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/**
 * The live sockets of many engines that send batches encoded beforehand.
 *
 * <p>Nothing is dropped: whoever sends must not run far ahead of those who read.
 *
 * <p>Confined to the sending thread.
 */
public final class BatchPublisher implements AutoCloseable {

  private static final int HANDSHAKE_MILLIS = 500;
  private static final byte[] TOPIC = {};

  private final ZContext context = new ZContext(1);
  private final List<ZMQ.Socket> sockets = new ArrayList<>();

  /** Binds a socket for each engine, to ports of the loopback that are free. */
  public BatchPublisher(int engines) {
    for (int i = 0; i < engines; i++) {
      ZMQ.Socket socket = context.createSocket(SocketType.PUB);
      socket.setHandshakeIvl(HANDSHAKE_MILLIS);
      socket.setSndHWM(0);
      socket.setLinger(0);
      socket.bind("tcp://127.0.0.1:*");
      sockets.add(socket);
    }
  }

  /** Where the engine with this number sends. */
  public String endpoint(int engine) {
    return sockets.get(engine).getLastEndpoint();
  }

  /** Sends one batch of an engine. */
  public void send(int engine, long sequence, byte[] payload) {
    ZMQ.Socket socket = sockets.get(engine);
    socket.sendMore(TOPIC);
    socket.sendMore(ByteBuffer.allocate(Long.BYTES).putLong(sequence).array());
    socket.send(payload);
  }

  @Override
  public void close() {
    context.close();
  }
}
