/** How a live engine hashes pages and writes events when it stands for an SGLang. */
@NullMarked
package dev.warmpath.simulator.live.sglang;

import org.jspecify.annotations.NullMarked;
