/** Caches of engines that serve requests and announce what they store and evict. */
@NullMarked
package dev.warmpath.simulator.bench.generate.fleet;

import org.jspecify.annotations.NullMarked;
