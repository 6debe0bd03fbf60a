package dev.warmpath.eventingest.wire;

import dev.warmpath.eventingest.wire.EventColumns.SkipReason;
import java.util.List;
import java.util.Map;

/**
 * What one message of an engine holds: the events of a step, in order.
 *
 * <p>Immutable.
 *
 * @param timestampSeconds the engine's wall clock at publishing, seconds since the epoch; NaN when
 *     not given. Never a measure of order
 * @param dataParallelRank -1 when not given
 * @param events those that could be read
 * @param skipped how many could not, by reason
 * @param firstProblem what was wrong with the first of those, for the log; empty when all were read
 */
public record KvEventBatch(
    double timestampSeconds,
    int dataParallelRank,
    List<KvEvent> events,
    Map<SkipReason, Integer> skipped,
    String firstProblem) {

  public KvEventBatch {
    events = List.copyOf(events);
    skipped = Map.copyOf(skipped);
  }

  /** Whether a skipped event may have taken blocks away. */
  public boolean mayHideRemovals() {
    return skipped.containsKey(SkipReason.MALFORMED_REMOVED)
        || skipped.containsKey(SkipReason.UNTYPED);
  }
}
