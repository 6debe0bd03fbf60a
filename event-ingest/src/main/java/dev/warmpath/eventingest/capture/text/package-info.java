/** Capture files in lines that people read. */
@NullMarked
package dev.warmpath.eventingest.capture.text;

import org.jspecify.annotations.NullMarked;
