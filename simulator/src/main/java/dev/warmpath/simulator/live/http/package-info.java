/** The engine's HTTP surface as vLLM serves it. */
@NullMarked
package dev.warmpath.simulator.live.http;

import org.jspecify.annotations.NullMarked;
