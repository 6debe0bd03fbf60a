/** Processes that a bench starts or watches: their output, their sockets, their CPU time. */
@NullMarked
package dev.warmpath.simulator.bench.process;

import org.jspecify.annotations.NullMarked;
