/** Many measured values as a few figures. */
@NullMarked
package dev.warmpath.simulator.statistics;

import org.jspecify.annotations.NullMarked;
