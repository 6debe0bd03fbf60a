/** Engines of the model as benches use them, and what follows from the names of their blocks. */
@NullMarked
package dev.warmpath.simulator.bench.engine;

import org.jspecify.annotations.NullMarked;
