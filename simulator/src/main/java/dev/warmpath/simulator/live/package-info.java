/** Simulated engines on real sockets: OpenAI's HTTP surface and vLLM's event stream. */
@NullMarked
package dev.warmpath.simulator.live;

import org.jspecify.annotations.NullMarked;
