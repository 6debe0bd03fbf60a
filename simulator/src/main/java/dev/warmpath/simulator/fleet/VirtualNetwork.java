package dev.warmpath.simulator.fleet;

import dev.warmpath.router.cluster.ClusterLink;
import dev.warmpath.router.cluster.RouterId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * What the routers of a virtual fleet tell each other, on its way. All can reach all.
 *
 * <p>Single writer.
 */
final class VirtualNetwork {

  private static final double NANOS_PER_MILLI = 1e6;

  /** Says when to call {@link #deliver}. */
  interface Alarm {
    void in(long nanos, long message);
  }

  @SuppressWarnings("ArrayRecordComponent") // never compared as a record
  private record Message(RouterId from, Link to, byte[] bytes) {}

  private final Routers.Sharing sharing;
  private final SplittableRandom random;
  private final Alarm alarm;
  private final List<Link> links = new ArrayList<>();
  private final Map<Long, Message> underWay = new HashMap<>();
  private long next;

  VirtualNetwork(Routers.Sharing sharing, long seed, Alarm alarm) {
    this.sharing = sharing;
    this.random = new SplittableRandom(Workload.mixed(seed));
    this.alarm = alarm;
  }

  /** How a router is connected; the next in the order of their numbers. */
  ClusterLink link(RouterId router) {
    Link link = new Link(router);
    links.add(link);
    return link;
  }

  /** All have begun and find each other. */
  void open() {
    for (Link link : links) {
      Set<RouterId> others = new HashSet<>();
      links.forEach(other -> others.add(other.router));
      others.remove(link.router);
      link.listener.reachable(others);
    }
  }

  /** A message arrives; returns at which router. */
  int deliver(long number) {
    Message message = Objects.requireNonNull(underWay.remove(number));
    message.to.listener.received(message.from, message.bytes);
    return links.indexOf(message.to);
  }

  private final class Link implements ClusterLink {
    private final RouterId router;

    @SuppressWarnings("NullAway.Init")
    private Listener listener;

    private long sentBytes;

    Link(RouterId router) {
      this.router = router;
    }

    @Override
    public void begin(Listener hears) {
      listener = hears;
    }

    @Override
    public void broadcast(byte[] message) {
      for (Link link : links) {
        if (link != this) {
          send(link, message);
        }
      }
    }

    @Override
    public void send(RouterId to, byte[] message) {
      for (Link link : links) {
        if (link.router.equals(to)) {
          send(link, message);
        }
      }
    }

    private void send(Link to, byte[] message) {
      sentBytes += message.length;
      if (sharing.loss() > 0 && random.nextDouble() < sharing.loss()) {
        return;
      }
      double jitter = sharing.jitterMillis() > 0 ? random.nextDouble() * sharing.jitterMillis() : 0;
      underWay.put(next, new Message(router, to, message));
      alarm.in(Math.round((sharing.millis() + jitter) * NANOS_PER_MILLI), next++);
    }

    @Override
    public Status status() {
      return new Status(sentBytes, 0, 0, 0, 0, "");
    }

    @Override
    public void close() {
      listener.reachable(Set.of());
    }
  }
}
