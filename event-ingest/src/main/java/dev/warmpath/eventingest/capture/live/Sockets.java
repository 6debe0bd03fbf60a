package dev.warmpath.eventingest.capture.live;

import java.util.ArrayList;
import java.util.List;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZFrame;
import org.zeromq.ZMQ;
import org.zeromq.ZMsg;

/**
 * Opens sockets that lose nothing and never stay silent, and reads whole messages from them.
 *
 * <p>Thread-safe.
 */
final class Sockets {

  private static final int HANDSHAKE_MILLIS = 500;
  private static final int LINGER_MILLIS = 1_000;

  private Sockets() {}

  static ZMQ.Socket open(ZContext context, SocketType type) {
    ZMQ.Socket socket = context.createSocket(type);
    socket.setHandshakeIvl(HANDSHAKE_MILLIS);
    socket.setHWM(0);
    socket.setLinger(LINGER_MILLIS);
    return socket;
  }

  /** The frames of the message that has come, or none. */
  static List<byte[]> receive(ZMQ.Socket socket) {
    ZMsg message = ZMsg.recvMsg(socket, ZMQ.DONTWAIT);
    if (message == null) {
      return List.of();
    }
    List<byte[]> frames = new ArrayList<>(message.size());
    for (ZFrame frame : message) {
      frames.add(frame.getData());
    }
    return frames;
  }
}
