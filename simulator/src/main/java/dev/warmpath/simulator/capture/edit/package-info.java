/** Capture files taken apart, put together and compared. */
@NullMarked
package dev.warmpath.simulator.capture.edit;

import org.jspecify.annotations.NullMarked;
