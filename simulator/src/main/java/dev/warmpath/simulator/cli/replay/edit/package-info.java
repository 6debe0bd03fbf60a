/** {@code warmpath replay stats}, {@code cut}, {@code merge} and {@code diff}. */
@NullMarked
package dev.warmpath.simulator.cli.replay.edit;

import org.jspecify.annotations.NullMarked;
