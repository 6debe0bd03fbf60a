/** What the events of one engine mean, and room for what they store. */
@NullMarked
package dev.warmpath.kvindex.runs.engine;

import org.jspecify.annotations.NullMarked;
