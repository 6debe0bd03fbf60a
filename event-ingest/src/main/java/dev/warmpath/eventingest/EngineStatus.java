package dev.warmpath.eventingest;

import dev.warmpath.kvindex.block.ChainSpace;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What is known of one engine's event stream at one moment.
 *
 * @param id the engine
 * @param slot its slot in the index
 * @param trust how far the index may be believed for it
 * @param reason why trust is what it is, for people
 * @param since when trust became what it is, by the wall clock as it stands now
 * @param lastSequence sequence number of the last batch applied, −1 before the first
 * @param space the space of its block keys, null until its first block
 * @param hashScheme how the engine makes its hashes, as far as that was found out
 * @param counters counts since the engine was added, by metric name; the same names for every
 *     engine
 * @param lagSeconds time from arrival to visibility of the last live batch that the index shows;
 *     while a replay runs that may bring what is missing, time since it began
 * @param ring what waits between its sockets and the index
 * @param socketBytes that wait in its live socket
 * @param bufferedBatches live batches that wait for the end of a replay
 * @param layoutMismatch how its blocks differ from those of other engines of its model; null if
 *     they do not
 */
public record EngineStatus(
    EngineId id,
    int slot,
    Trust trust,
    String reason,
    Instant since,
    long lastSequence,
    @Nullable ChainSpace space,
    String hashScheme,
    Map<String, Long> counters,
    double lagSeconds,
    RingFill ring,
    long socketBytes,
    int bufferedBatches,
    @Nullable String layoutMismatch) {

  public EngineStatus {
    counters = Map.copyOf(counters);
  }
}
