/** The pure engine in real time: the thread that steps it and what is counted on the way. */
@NullMarked
package dev.warmpath.simulator.live.drive;

import org.jspecify.annotations.NullMarked;
