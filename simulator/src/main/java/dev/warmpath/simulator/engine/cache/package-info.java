/** The engine's KV cache: vLLM's block pool, prefix lookup and the events they cause. */
@NullMarked
package dev.warmpath.simulator.engine.cache;

import org.jspecify.annotations.NullMarked;
