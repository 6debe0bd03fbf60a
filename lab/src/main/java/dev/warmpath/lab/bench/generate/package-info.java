/** The corpora that can be made here, by name. */
@NullMarked
package dev.warmpath.lab.bench.generate;

import org.jspecify.annotations.NullMarked;
