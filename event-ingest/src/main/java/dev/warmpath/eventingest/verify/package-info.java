/** What the index predicts from a capture, held against what the engine served. */
@NullMarked
package dev.warmpath.eventingest.verify;

import org.jspecify.annotations.NullMarked;
