/** All commands but those of a serving process: simulation, checks, capture tools. */
@NullMarked
package dev.warmpath.simulator.cli;

import org.jspecify.annotations.NullMarked;
