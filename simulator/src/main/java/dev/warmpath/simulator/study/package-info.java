/** Compares policies on virtual fleets: grids of cells, seeds, confidence, reports. */
@NullMarked
package dev.warmpath.simulator.study;

import org.jspecify.annotations.NullMarked;
