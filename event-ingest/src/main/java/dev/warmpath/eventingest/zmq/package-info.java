/** The sockets: live subscriptions and replays, each with its own thread and bounds. */
@NullMarked
package dev.warmpath.eventingest.zmq;

import org.jspecify.annotations.NullMarked;
