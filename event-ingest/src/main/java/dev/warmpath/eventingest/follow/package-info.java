/** Follows a fleet's engines: sockets, streams and the one writer of the index, tied together. */
@NullMarked
package dev.warmpath.eventingest.follow;

import org.jspecify.annotations.NullMarked;
