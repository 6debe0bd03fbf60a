/** Workloads for an index: events and queries in the order in which they happened. */
@NullMarked
package dev.warmpath.lab.bench.corpus;

import org.jspecify.annotations.NullMarked;
