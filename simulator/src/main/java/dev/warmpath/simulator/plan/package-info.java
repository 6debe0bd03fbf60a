/** What a decision log is good for: engine speed learned from it, and the fleet it needs. */
@NullMarked
package dev.warmpath.simulator.plan;

import org.jspecify.annotations.NullMarked;
