/** The simulated engine over tokens: digests for its blocks, and its changes as wire events. */
@NullMarked
package dev.warmpath.simulator.live.event;

import org.jspecify.annotations.NullMarked;
