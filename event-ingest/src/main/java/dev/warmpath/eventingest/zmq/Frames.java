package dev.warmpath.eventingest.zmq;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.zeromq.ZMQ;

/**
 * Reads whole messages. At most {@value #MAX_FRAMES} frames of a message are kept.
 *
 * <p>Thread-safe.
 */
final class Frames {

  private static final int MAX_FRAMES = 8;

  private Frames() {}

  /** All frames of the next message, or null if none came. */
  static @Nullable List<byte[]> receive(ZMQ.Socket socket, int flags) {
    byte[] frame = socket.recv(flags);
    if (frame == null) {
      return null;
    }
    List<byte[]> frames = new ArrayList<>(4);
    while (frame != null) {
      if (frames.size() < MAX_FRAMES) {
        frames.add(frame);
      }
      frame = socket.hasReceiveMore() ? socket.recv(0) : null;
    }
    return frames;
  }
}
