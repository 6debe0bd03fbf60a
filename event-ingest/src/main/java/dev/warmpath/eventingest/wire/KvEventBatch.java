package dev.warmpath.eventingest.wire;

import java.util.List;
import java.util.Locale;
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

  /** Why an event of a batch was not read. */
  public enum SkipReason {
    /** An event type that is not known here. */
    UNKNOWN_TYPE,
    /** Neither array nor map, or without a type. */
    UNTYPED,
    /** A store with a field missing or of a wrong type: its blocks are not credited. */
    MALFORMED_STORED,
    /**
     * A removal with a field missing or of a wrong type: blocks may be credited that are gone, so
     * the stream cannot be believed any more.
     */
    MALFORMED_REMOVED;

    /** The constant as it appears in metrics. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

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
