/** Engines that fail on command, and the plan of their failures. */
@NullMarked
package dev.warmpath.simulator.chaos.engine;

import org.jspecify.annotations.NullMarked;
