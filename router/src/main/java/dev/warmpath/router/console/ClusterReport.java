package dev.warmpath.router.console;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.router.cluster.Cluster;
import dev.warmpath.router.cluster.ClusterLink;
import dev.warmpath.router.cluster.Neighbours;
import org.jspecify.annotations.Nullable;

/** {@code GET /admin/cluster}: the other routers, and what being one of several costs. */
final class ClusterReport {

  private static final long NANOS_PER_MILLI = 1_000_000;

  private ClusterReport() {}

  /**
   * The document.
   *
   * @param cluster null if this router is alone
   */
  static ObjectNode of(@Nullable Cluster cluster) {
    ObjectNode root = JsonNodeFactory.instance.objectNode();
    if (cluster == null) {
      return root.put("mode", "off");
    }
    Cluster.Status status = cluster.status();
    ClusterLink.Status link = status.link();
    root.put("router", status.self().name());
    root.put("problem", link.problem().isEmpty() ? null : link.problem());
    root.put("requests", status.bookings()).put("waiting", status.waiting());
    ArrayNode routers = root.putArray("routers");
    for (Cluster.Peer peer : status.peers()) {
      routers
          .addObject()
          .put("name", peer.id().name())
          .put("reachable", peer.reachable())
          .put("heardMs", peer.isHeard() ? peer.heardNanos() / NANOS_PER_MILLI : null)
          .put("requests", peer.bookings())
          .put("waiting", peer.waiting())
          .put("inStep", peer.inStep());
    }
    root.put("lost", status.lost());
    root.put("sentBytes", link.sentBytes()).put("receivedBytes", link.receivedBytes());
    root.put("waitingBytes", link.waitingBytes()).put("droppedMessages", link.droppedMessages());
    root.put("bookings", status.told()).put("askedAgain", status.askedAgain());
    root.put("blindChoices", status.blindChoices());
    root.put("blindPrefillMs", Math.round(status.blindMillis()));
    root.put("malformedMessages", status.malformed()).put("refusedRows", status.refused());
    root.put("refusedMessages", link.refusedMessages());
    Neighbours.Seed seed = status.seed();
    if (seed != null) {
      root.putObject("seed")
          .put("outcome", seed.outcome().label())
          .put("seconds", seed.seconds())
          .put("bytes", seed.bytes());
    }
    return root;
  }
}
