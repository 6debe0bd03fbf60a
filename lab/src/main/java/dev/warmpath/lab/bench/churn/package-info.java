/** An index at its byte budget, for as long as one likes. */
@NullMarked
package dev.warmpath.lab.bench.churn;

import org.jspecify.annotations.NullMarked;
