/** What goes wrong on the way of a recorded stream, when somebody rehearses it. */
@NullMarked
package dev.warmpath.simulator.capture.fault;

import org.jspecify.annotations.NullMarked;
