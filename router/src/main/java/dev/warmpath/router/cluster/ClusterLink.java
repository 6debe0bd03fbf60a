package dev.warmpath.router.cluster;

import dev.warmpath.router.config.ClusterConfig;
import dev.warmpath.router.members.PeerAddresses;
import java.util.Set;

/**
 * Brings messages to the other routers and says which there are. It may lose, repeat and reorder
 * messages: what they say is merged, and asked for again where something is missing.
 *
 * <p>Thread-safe.
 */
public interface ClusterLink extends AutoCloseable {

  /** The longest message that is sent or taken, in bytes. */
  int LONGEST_MESSAGE = 1 << 20;

  /** Hears of the others, on the link's threads; one call after another, or several at once. */
  interface Listener {

    /**
     * These others can be reached now, this one not among them. One that stops and one that is cut
     * off look alike.
     */
    void reachable(Set<RouterId> others);

    /**
     * A message came.
     *
     * @param message not changed by anybody from now on
     */
    void received(RouterId from, byte[] message);
  }

  /**
   * How it went since the start.
   *
   * @param sentBytes to all others together, as given to the network
   * @param receivedBytes from all others together
   * @param droppedMessages that found no room to wait, or could not be sent
   * @param refusedMessages from others: too long, malformed, or without the secret
   * @param waitingBytes that wait to be sent now
   * @param problem why nobody can be reached at the moment, for operators; empty if all is well
   */
  record Status(
      long sentBytes,
      long receivedBytes,
      long droppedMessages,
      long refusedMessages,
      long waitingBytes,
      String problem) {}

  /**
   * What the configuration wants; not begun.
   *
   * @param config of another mode than off
   */
  static ClusterLink of(ClusterConfig config, RouterId self) {
    return switch (config.mode()) {
      case MESH -> new MeshLink(self, config, new PeerAddresses(config));
      case REDIS -> new RedisLink(self, config, System::nanoTime);
      case OFF -> throw new IllegalArgumentException("mode=" + config.mode());
    };
  }

  /** Joins the others. Returns at once: they are reached when they are there. */
  void begin(Listener listener);

  /** Sends to all others that are reachable; never waits. What finds no room is dropped. */
  void broadcast(byte[] message);

  /** Sends to one of them; never waits. To one that is not reachable it is dropped. */
  void send(RouterId to, byte[] message);

  Status status();

  /** Whether there may be others that are not reached yet: it is too early to be alone. */
  default boolean mayReachMore() {
    return false;
  }

  /** Leaves the others, who hear of it at once if that can be. */
  @Override
  void close();
}
