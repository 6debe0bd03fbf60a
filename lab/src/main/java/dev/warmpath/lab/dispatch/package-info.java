/**
 * {@code bench choose} and {@code bench cluster}: what a choice costs, and what it costs several
 * routers to share what they know.
 *
 * <pre>{@code
 * growing chats ─▶ Dispatcher ─▶ made-up caches that evict ─▶ CPU to choose and to learn, by policy
 * one load ─▶ Dispatcher of each router ─▶ Cluster ─▶ a mesh on the loopback      a turn with it
 *          ─▶ Dispatcher of each router                                           a turn without
 * }</pre>
 *
 * <p>Start with {@code BenchChooseCommand.ChoiceBench} and {@code
 * BenchClusterCommand.ClusterBench}: the router's own dispatcher in one process, with neither
 * clients nor engines.
 */
@NullMarked
package dev.warmpath.lab.dispatch;

import org.jspecify.annotations.NullMarked;
