/** Engines of the model as benches use them, and what follows from the names of their blocks. */
@NullMarked
package dev.warmpath.lab.bench.engine;

import org.jspecify.annotations.NullMarked;
