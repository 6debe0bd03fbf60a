/** The commands that work with capture files of event streams. */
@NullMarked
package dev.warmpath.simulator.cli.replay;

import org.jspecify.annotations.NullMarked;
