/** The flags of {@code warmpath simulate} and its subcommands. */
@NullMarked
package dev.warmpath.simulator.cli.simulate;

import org.jspecify.annotations.NullMarked;
