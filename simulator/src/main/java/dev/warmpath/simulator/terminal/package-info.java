/**
 * What commands share on a terminal: how far long work has come, and durations and shares as people
 * write them.
 *
 * <pre>{@code
 * ProgressFlag (--progress) ─▶ ReadingProgress (bytes of capture files) ─▶ ProgressBar ─▶ stderr
 * 500ms, 1h ─▶ DurationText     1%, 0.01 ─▶ ShareText
 * }</pre>
 *
 * <p>Start with {@link ProgressFlag}.
 */
@NullMarked
package dev.warmpath.simulator.terminal;

import org.jspecify.annotations.NullMarked;
