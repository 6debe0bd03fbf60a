/** Texts of flags, and of results. */
@NullMarked
package dev.warmpath.simulator.cli.text;

import org.jspecify.annotations.NullMarked;
