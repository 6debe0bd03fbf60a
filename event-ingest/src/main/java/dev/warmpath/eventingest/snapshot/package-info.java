/** What one process knows of the engines beside the index, and what the next one makes of it. */
@NullMarked
package dev.warmpath.eventingest.snapshot;

import org.jspecify.annotations.NullMarked;
