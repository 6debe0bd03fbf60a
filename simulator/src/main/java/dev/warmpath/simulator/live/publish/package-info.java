/** The engine's event stream on ZMQ: wire forms, publishing, replay. */
@NullMarked
package dev.warmpath.simulator.live.publish;

import org.jspecify.annotations.NullMarked;
