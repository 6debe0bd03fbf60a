/** Streams of requests, synthetic ones and recorded ones. */
@NullMarked
package dev.warmpath.simulator.bench.generate.requests;

import org.jspecify.annotations.NullMarked;
