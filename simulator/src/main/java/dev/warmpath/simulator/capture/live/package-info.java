/** Capture files and live streams: recorded from engines, published as if by one. */
@NullMarked
package dev.warmpath.simulator.capture.live;

import org.jspecify.annotations.NullMarked;
