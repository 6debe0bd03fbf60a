/** The measurement of whole routers before the same fleet of simulated engines. */
@NullMarked
package dev.warmpath.lab.bench.fleet;

import org.jspecify.annotations.NullMarked;
