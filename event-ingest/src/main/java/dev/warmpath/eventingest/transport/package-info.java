/** The sockets: live streams, replays, and their bounds in bytes. */
@NullMarked
package dev.warmpath.eventingest.transport;

import org.jspecify.annotations.NullMarked;
