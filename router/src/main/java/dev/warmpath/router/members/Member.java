package dev.warmpath.router.members;

import dev.warmpath.router.config.ReplicaConfig;
import dev.warmpath.router.fleet.Replica;

/**
 * A replica of the fleet.
 *
 * @param source where it is named
 * @param named as it is described there
 * @param config the same, with what its engine says of its ranks and events
 * @param leaving whether nobody names it any more; it is removed when it is idle
 */
public record Member(
    String source, ReplicaConfig named, ReplicaConfig config, Replica replica, boolean leaving) {}
