/** One engine's batches, in order and complete or else counted as lost, applied to the index. */
@NullMarked
package dev.warmpath.eventingest.session;

import org.jspecify.annotations.NullMarked;
