/** Measures how soon a router that was killed knows again what it knew. */
@NullMarked
package dev.warmpath.lab.bench.recovery;

import org.jspecify.annotations.NullMarked;
