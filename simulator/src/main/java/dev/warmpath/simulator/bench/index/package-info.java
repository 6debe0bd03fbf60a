/** Measures an index on a corpus. */
@NullMarked
package dev.warmpath.simulator.bench.index;

import org.jspecify.annotations.NullMarked;
