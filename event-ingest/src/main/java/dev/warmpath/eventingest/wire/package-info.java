/** What engines say about their KV caches: the events of the wire as values. */
@NullMarked
package dev.warmpath.eventingest.wire;

import org.jspecify.annotations.NullMarked;
