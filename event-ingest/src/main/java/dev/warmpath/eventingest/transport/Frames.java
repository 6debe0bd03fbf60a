package dev.warmpath.eventingest.transport;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.zeromq.ZMQ;
import org.zeromq.ZMQException;
import zmq.Msg;
import zmq.ZError;
import zmq.io.Metadata;

/**
 * A whole message, of which at most {@value #MAX_FRAMES} frames are kept.
 *
 * <p>Immutable, as long as nobody writes to the frames.
 *
 * @param peer address and port of the other side of its connection; empty if its protocol is older
 *     than ZMTP 3
 */
record Frames(List<byte[]> all, String peer) {

  private static final int MAX_FRAMES = 8;

  /** The next message, or null if none came. */
  static @Nullable Frames receive(ZMQ.Socket socket, int flags) {
    Msg first = socket.base().recv(flags);
    if (first == null) {
      if (socket.errno() != 0 && socket.errno() != ZError.EAGAIN) {
        throw new ZMQException(socket.errno());
      }
      return null;
    }
    List<byte[]> frames = new ArrayList<>(4);
    byte[] frame = first.data();
    while (frame != null) {
      if (frames.size() < MAX_FRAMES) {
        frames.add(frame);
      }
      frame = socket.hasReceiveMore() ? socket.recv(0) : null;
    }
    return new Frames(frames, peer(first));
  }

  private static String peer(Msg message) {
    Metadata metadata = message.getMetadata();
    String address = metadata == null ? null : metadata.get(Metadata.PEER_ADDRESS);
    return address == null ? "" : address;
  }
}
