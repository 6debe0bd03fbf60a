package dev.warmpath.eventingest.transport;

import com.sun.management.UnixOperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.zeromq.ZContext;

/**
 * The file descriptors that ZeroMQ sockets take. Live sockets leave some to replays and to clients:
 * an engine too many does not stop the others.
 *
 * <p>Confined to its poller's thread; the static methods are thread-safe.
 */
public final class Descriptors {

  /*
   * A socket of JeroMQ has a pipe (two), a selector that waits for it (two) and its TCP connection.
   * Changes of a connection come by a hook: a socket's monitor would be two sockets more.
   */

  /** Of a socket with one connection. */
  private static final int SOCKET = 5;

  /** Left to replays, health checks and clients. */
  static final int RESERVED = 256;

  /** Of the JVM: class files, selectors of the HTTP servers, log files. */
  private static final int PROCESS = 128;

  /** More than descriptors ever allow; JeroMQ's own default is 1,024. */
  private static final int MAX_SOCKETS = 1 << 16;

  /**
   * Sockets opened at once: a peer that does not shake hands within half a second is given up, and
   * one thread shakes hands with all.
   */
  private static final int OPENED_A_LOOK = 64;

  /** Counting takes a millisecond for a thousand open ones. */
  private static final int LOOKS_A_COUNT = 10;

  private static final long UNKNOWN = Long.MIN_VALUE;

  private static final Logger LOG = LoggerFactory.getLogger(Descriptors.class);

  private final @Nullable UnixOperatingSystemMXBean system =
      ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix
          ? unix
          : null;
  private long left = UNKNOWN;
  private int openable = OPENED_A_LOOK;
  private int looksLacking;
  private boolean lacking;

  /** A context for the sockets of a large fleet, with one thread for their connections. */
  public static ZContext context() {
    ZContext context = new ZContext(1);
    context.getContext().setMaxSockets(MAX_SOCKETS);
    context.setLinger(0);
    context.setNotificationExceptionHandler(
        (thread, e) -> LOG.debug("thread={} goes on after", thread.getName(), e));
    return context;
  }

  /** How many a process needs that follows so many engines, clients not counted. */
  public static long needed(int engines) {
    return PROCESS + RESERVED + (long) SOCKET * engines;
  }

  /** A look at the connections begins: so many sockets may be opened in it. */
  void beginLook() {
    openable = OPENED_A_LOOK;
    if (!lacking || ++looksLacking % LOOKS_A_COUNT == 0) {
      left = UNKNOWN;
    }
  }

  /** Takes those of one live socket; false if it must wait for a later look. */
  boolean takeSocket() {
    if (openable == 0) {
      return false;
    }
    if (left == UNKNOWN) {
      left = countLeft();
    }
    boolean taken = left >= SOCKET;
    if (taken) {
      openable--;
      left -= SOCKET;
    } else if (!lacking) {
      LOG.warn(
          "file descriptors run out (limit {}), so some engines' events are not followed: raise"
              + " LimitNOFILE= (systemd), --ulimit nofile (containers) or ulimit -n",
          system == null ? "unknown" : system.getMaxFileDescriptorCount());
    }
    lacking = !taken;
    return taken;
  }

  private long countLeft() {
    return system == null
        ? Integer.MAX_VALUE
        : system.getMaxFileDescriptorCount() - system.getOpenFileDescriptorCount() - RESERVED;
  }
}
