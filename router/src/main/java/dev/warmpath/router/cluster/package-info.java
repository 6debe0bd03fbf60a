/**
 * What several routers in front of one fleet tell each other.
 *
 * <p>Each receives every engine's events itself, so the index is not shared. Shared is what no
 * event tells: which requests the others have sent, and what operators and engines told one of
 * them. Nothing on a request's path waits for the network.
 *
 * <pre>{@code
 * Dispatcher ─▶ Cluster ─▶ ClusterMessage ─▶ ClusterLink ~~▶ ClusterLink ─▶ Cluster ─▶ RouterRows
 *   assigned, finished                       MeshLink or RedisLink           ─▶ fleet.EngineState
 * }</pre>
 *
 * <p>Start with {@link Cluster}; the comment at its top says what is told and merged. {@link
 * RouterRows} is what is known of one other router, {@link LastWriterMap} what operators said.
 * {@link Neighbours} exchanges snapshots of the index: {@link WarmStart} gets one at the start,
 * {@link SeedDonor} gives them to routers that start.
 */
@NullMarked
package dev.warmpath.router.cluster;

import org.jspecify.annotations.NullMarked;
