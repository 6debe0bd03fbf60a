/**
 * What several routers in front of one fleet tell each other.
 *
 * <p>Each hears every engine's events itself, so the index is not shared. Shared is what no event
 * tells: which requests the others have sent, and what operators and engines told one of them.
 * Nothing on a request's path waits for the network.
 *
 * <p>Start with {@code Cluster}: it hears what the dispatcher does, tells the others, and counts
 * theirs in {@code fleet.engine.EngineState}, where policies look anyway. {@code RouterRows} is
 * what is known of one router and how it is merged, {@code LastWriterMap} what operators said,
 * {@code ClusterMessage} the form on the wire. A {@code ClusterLink} brings messages to the others:
 * a mesh ({@code MeshLink}), or a Redis server ({@code RedisLink}).
 *
 * <p>{@code Neighbours} gives snapshots of the index: {@code SeedDonor} to routers that start,
 * which {@code WarmStart} is the other end of.
 */
@NullMarked
package dev.warmpath.router.cluster;

import org.jspecify.annotations.NullMarked;
