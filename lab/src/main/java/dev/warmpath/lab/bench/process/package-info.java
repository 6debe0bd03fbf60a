/** Processes that a bench starts or watches: their output, their sockets, their CPU time. */
@NullMarked
package dev.warmpath.lab.bench.process;

import org.jspecify.annotations.NullMarked;
