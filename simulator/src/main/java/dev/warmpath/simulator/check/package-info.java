/** Real engines behind the router, and each prediction against what they say they reused. */
@NullMarked
package dev.warmpath.simulator.check;

import org.jspecify.annotations.NullMarked;
