package dev.warmpath.simulator.capture;

import java.util.Map;
import java.util.TreeMap;

/**
 * How the predictions of one capture came out.
 *
 * @param engine the recorded engines, release included
 * @param events events applied
 * @param blocks block hashes announced as stored
 * @param requests requests recorded
 * @param judged requests behind a {@code quiescent} mark
 * @param skipped requests that prove nothing, by reason
 * @param busy the other requests: not judged, because events were under way
 * @param dropped batches that a rehearsal dropped
 * @param unseen requests behind a loss that nothing had shown yet: not judged
 * @param router what the recording router had predicted itself, where it did
 * @param uncached tokens that engines computed of the judged requests' prompts, by the label of why
 *     they were not cached
 * @param truncated whether the file ends inside a record
 */
public record VerifyReport(
    String engine,
    long events,
    long blocks,
    long requests,
    Verdicts judged,
    Map<String, Long> skipped,
    Verdicts busy,
    long dropped,
    Verdicts unseen,
    Verdicts router,
    Map<String, Long> uncached,
    boolean truncated) {

  public VerifyReport {
    skipped = new TreeMap<>(skipped);
    uncached = new TreeMap<>(uncached);
  }

  /** How many predictions were equal to the truth, above and below it. */
  public record Verdicts(long exact, long over, long under) {

    /** How many there are. */
    public long count() {
      return exact + over + under;
    }

    static final Verdicts NONE = new Verdicts(0, 0, 0);

    Verdicts with(long predicted, long actual) {
      return new Verdicts(
          exact + (predicted == actual ? 1 : 0),
          over + (predicted > actual ? 1 : 0),
          under + (predicted < actual ? 1 : 0));
    }

    Verdicts plus(Verdicts other) {
      return new Verdicts(exact + other.exact, over + other.over, under + other.under);
    }
  }

  /** Requests that prove nothing. */
  public long skippedRequests() {
    return skipped.values().stream().mapToLong(Long::longValue).sum();
  }
}
