/** The bench commands. */
@NullMarked
package dev.warmpath.simulator.cli.bench;

import org.jspecify.annotations.NullMarked;
