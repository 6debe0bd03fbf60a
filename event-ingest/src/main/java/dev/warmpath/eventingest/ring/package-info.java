/** The bounded rings between the sockets and the one thread that writes the index. */
@NullMarked
package dev.warmpath.eventingest.ring;

import org.jspecify.annotations.NullMarked;
