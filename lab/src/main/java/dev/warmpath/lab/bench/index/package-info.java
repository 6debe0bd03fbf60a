/** Measures an index on a corpus. */
@NullMarked
package dev.warmpath.lab.bench.index;

import org.jspecify.annotations.NullMarked;
