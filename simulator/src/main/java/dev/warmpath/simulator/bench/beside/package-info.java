/** Runs the drivers of other indexes on the same corpus, in turns with ours. */
@NullMarked
package dev.warmpath.simulator.bench.beside;

import org.jspecify.annotations.NullMarked;
