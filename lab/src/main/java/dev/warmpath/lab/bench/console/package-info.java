/** Measures what a look at the console costs the router. */
@NullMarked
package dev.warmpath.lab.bench.console;

import org.jspecify.annotations.NullMarked;
