/** Engines that fail on command, and the plan of their failures. */
@NullMarked
package dev.warmpath.lab.chaos.engine;

import org.jspecify.annotations.NullMarked;
