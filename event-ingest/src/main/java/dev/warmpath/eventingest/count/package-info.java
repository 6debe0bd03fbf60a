/** What is counted for each engine's stream. */
@NullMarked
package dev.warmpath.eventingest.count;

import org.jspecify.annotations.NullMarked;
