/** Measures a router and other gateways in front of the same stub replicas. */
@NullMarked
package dev.warmpath.lab.bench.gateway;

import org.jspecify.annotations.NullMarked;
