/**
 * What is known of the requests behind an engine's batches, as far as it decides what they mean.
 */
@NullMarked
package dev.warmpath.eventingest.traffic;

import org.jspecify.annotations.NullMarked;
