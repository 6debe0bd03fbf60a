/** What engines say about their KV caches: the events of the wire, decoded and encoded. */
@NullMarked
package dev.warmpath.eventingest.wire;

import org.jspecify.annotations.NullMarked;
