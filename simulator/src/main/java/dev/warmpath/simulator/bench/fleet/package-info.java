/** The measurement of whole routers before the same fleet of simulated engines. */
@NullMarked
package dev.warmpath.simulator.bench.fleet;

import org.jspecify.annotations.NullMarked;
