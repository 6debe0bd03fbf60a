/** What the index predicts from a capture, held against what the engine served. */
@NullMarked
package dev.warmpath.simulator.capture.verify;

import org.jspecify.annotations.NullMarked;
