/** An engine that behaves like vLLM where a router can tell, in virtual time. */
@NullMarked
package dev.warmpath.simulator.engine;

import org.jspecify.annotations.NullMarked;
