package dev.warmpath.router.members;

import dev.warmpath.router.config.ReplicaConfig;
import dev.warmpath.router.fleet.Replica;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A replica of the fleet. It joins when its source names it, and gets requests once its health
 * check passes, unless it is drained; it leaves when nobody names it any more, and is removed when
 * it is idle or late.
 *
 * <p>Immutable.
 *
 * @param source where it is named
 * @param named as it is described there
 * @param config the same, with what its engine says of its ranks and events
 * @param model of its blocks; empty for any
 * @param addresses that are connected to, by its hosts' names; of names that are not among them,
 *     whatever they stand for
 * @param replica what routing sees of it
 * @param drained whether an operator keeps new requests from it
 * @param lateNanos when it is removed at the latest; null unless it leaves
 */
public record Member(
    String source,
    ReplicaConfig named,
    ReplicaConfig config,
    String model,
    Map<String, String> addresses,
    Replica replica,
    boolean drained,
    @Nullable Long lateNanos) {

  public Member {
    addresses = Map.copyOf(addresses);
  }

  /** What routing sees of a replica described so. */
  public static Replica newReplica(ReplicaConfig config, boolean isDrained) {
    Replica replica =
        new Replica(
            config.name(),
            config.url(),
            Set.copyOf(config.models()),
            config.ranks(),
            config.firstRank());
    replica.weight(config.weight());
    replica.globalRanks(config.globalRanks());
    replica.transfer(config.kvTransfer());
    replica.draining(isDrained);
    return replica;
  }

  /** Whether nobody names it any more. */
  public boolean leaving() {
    return lateNanos != null;
  }

  String name() {
    return config.name();
  }

  /** Its description with the endpoints that are connected to. */
  ReplicaConfig connected() {
    return config.connectingTo(addresses);
  }

  /** What is connected to instead of looking up its host's name; null to look it up. */
  @Nullable String address() {
    return addresses.get(config.url().getHost().toLowerCase(Locale.ROOT));
  }

  /** Whether it may be removed. */
  boolean hasLeft(long nowNanos) {
    return lateNanos != null && (replica.requests() == 0 || nowNanos - lateNanos >= 0);
  }

  Member drained(boolean now) {
    return new Member(source, named, config, model, addresses, replica, now, lateNanos);
  }

  Member leavingUntil(long nanos) {
    return new Member(source, named, config, model, addresses, replica, drained, nanos);
  }
}
