/**
 * What several routers in front of one fleet tell each other.
 *
 * <p>Each hears every engine's events itself, so the index is not shared. Shared is what no event
 * tells: which requests the others have sent, and what operators and engines told one of them.
 * Nothing on a request's path waits for the network.
 *
 * <p>A {@code ClusterLink} brings messages to the others: a mesh, or a Redis server.
 */
@NullMarked
package dev.warmpath.router.cluster;

import org.jspecify.annotations.NullMarked;
