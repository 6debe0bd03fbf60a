/** The ways in which an index is measured. */
@NullMarked
package dev.warmpath.lab.bench.index.pass;

import org.jspecify.annotations.NullMarked;
