/** Makes corpora: requests, and a fleet of caches that serves them. */
@NullMarked
package dev.warmpath.simulator.bench.generate;

import org.jspecify.annotations.NullMarked;
