/** The ways in which an index is measured. */
@NullMarked
package dev.warmpath.simulator.bench.index.pass;

import org.jspecify.annotations.NullMarked;
