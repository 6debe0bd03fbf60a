package dev.warmpath.lab.index;

import dev.warmpath.lab.bench.Percentiles;

/**
 * What one round measured, each part on a fresh index.
 *
 * @param exact whether all answers summed up to what they should
 * @param atEnd queries after the last event, on the index that {@code bulk} filled
 * @param interleaved queries between the events
 * @param busy queries while the writer replays at full speed
 * @param keepUp queries and events at half of what the writer can take
 */
record Round(
    boolean exact,
    BulkPass.Took bulk,
    Percentiles atEnd,
    Percentiles interleaved,
    Percentiles busy,
    KeepUpPass.Seen keepUp) {}
