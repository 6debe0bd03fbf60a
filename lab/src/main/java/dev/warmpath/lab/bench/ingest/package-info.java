/** How many event blocks a second go from the bytes of a socket into an index. */
@NullMarked
package dev.warmpath.lab.bench.ingest;

import org.jspecify.annotations.NullMarked;
