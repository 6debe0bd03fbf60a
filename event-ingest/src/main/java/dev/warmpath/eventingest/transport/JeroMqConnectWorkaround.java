package dev.warmpath.eventingest.transport;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;
import org.zeromq.ZMQException;

/**
 * Makes the thread that serves a context's connections look after all of them once more.
 *
 * <p>When a connection is established, JeroMQ 0.6.0 gives up the channel's registration for the
 * connecting and makes one for the connected in the order of a hash set ({@code
 * zmq.poll.Poller.run}). In one of the two orders, some five times in a hundred here, the new one
 * is lost until anything else is registered: without that the connection waits for its handshake
 * timer and is made anew, or is never heard where the peer's greeting was complete by then. A
 * listener that is opened and closed registers something.
 */
final class JeroMqConnectWorkaround {

  private static final Logger LOG = LoggerFactory.getLogger(JeroMqConnectWorkaround.class);
  private static final String ANY_PORT = "tcp://127.0.0.1:*";

  private JeroMqConnectWorkaround() {}

  /** Does so some time after the call; takes about a millisecond. */
  static void nudge(ZContext context) {
    try {
      listen(context);
    } catch (ZMQException | IllegalStateException e) {
      LOG.debug("endpoint={} could not be bound for a moment", ANY_PORT, e);
    }
  }

  private static void listen(ZContext context) {
    ZMQ.Socket socket = context.createSocket(SocketType.PULL);
    try {
      socket.setLinger(0);
      socket.bind(ANY_PORT);
    } finally {
      socket.close();
    }
  }
}
