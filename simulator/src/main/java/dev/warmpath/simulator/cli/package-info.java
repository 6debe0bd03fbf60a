/** The simulator's commands: one engine, and the demo. */
@NullMarked
package dev.warmpath.simulator.cli;

import org.jspecify.annotations.NullMarked;
