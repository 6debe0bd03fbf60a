/** Keeps what the index says about each engine true to the engine's own event stream. */
@NullMarked
package dev.warmpath.eventingest;

import org.jspecify.annotations.NullMarked;
