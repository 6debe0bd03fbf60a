/**
 * What all benches share: processes and what they cost, our router as one of them, percentiles,
 * figures of memory, where a report goes. Start at {@link dev.warmpath.lab.bench.ServedRouter}.
 */
@NullMarked
package dev.warmpath.lab.bench;

import org.jspecify.annotations.NullMarked;
