/**
 * {@code bench cluster}: what it costs routers to be of one mind. {@code ClusterBench} runs some in
 * one process, with the router's own dispatcher and mesh, and neither clients nor engines.
 */
@NullMarked
package dev.warmpath.lab.cluster;

import org.jspecify.annotations.NullMarked;
