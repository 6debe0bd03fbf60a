/** Recorded workloads: when requests came, how long they were, and which prefixes they share. */
@NullMarked
package dev.warmpath.simulator.trace;

import org.jspecify.annotations.NullMarked;
