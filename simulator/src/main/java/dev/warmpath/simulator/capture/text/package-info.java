/** Capture files in lines that people read. */
@NullMarked
package dev.warmpath.simulator.capture.text;

import org.jspecify.annotations.NullMarked;
