/** How far long work has come, on a line of its own. */
@NullMarked
package dev.warmpath.simulator.cli.progress;

import org.jspecify.annotations.NullMarked;
