/** The formats of recorded workloads, and how each is read. */
@NullMarked
package dev.warmpath.simulator.trace.format;

import org.jspecify.annotations.NullMarked;
