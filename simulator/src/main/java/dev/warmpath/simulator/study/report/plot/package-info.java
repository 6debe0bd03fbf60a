/** Plots as inline SVG. */
@NullMarked
package dev.warmpath.simulator.study.report.plot;

import org.jspecify.annotations.NullMarked;
