/** From the bytes of the wire to events, without trust in them. */
@NullMarked
package dev.warmpath.eventingest.wire.decode;

import org.jspecify.annotations.NullMarked;
