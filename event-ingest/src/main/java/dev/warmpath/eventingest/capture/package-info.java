/** Capture files: what an engine really said, and what it really served, in order. */
@NullMarked
package dev.warmpath.eventingest.capture;

import org.jspecify.annotations.NullMarked;
