/** Sockets, and the bounded rings between them and the one thread that writes the index. */
@NullMarked
package dev.warmpath.eventingest.transport;

import org.jspecify.annotations.NullMarked;
