package dev.warmpath.eventingest.snapshot;

import dev.warmpath.eventingest.apply.LearnedCache;
import org.jspecify.annotations.Nullable;

/**
 * What a stream has to know beside the index to go on in another process.
 *
 * @param lastSequence number of the last batch applied
 * @param lastDigest digest of its bytes, which shows whether the engine's process is the same
 * @param startSeconds when the process started, in seconds since 1970; NaN if nobody knows
 * @param gap what was missed since the engine held nothing, or null if nothing was
 * @param learned what the events said of how the engine keeps its blocks
 */
public record StreamSnapshot(
    long lastSequence,
    long lastDigest,
    double startSeconds,
    @Nullable Gap gap,
    LearnedCache learned) {

  /**
   * Something that was missed.
   *
   * @param mayBeReplayed whether it was given up only because no replay answered; a later one may
   */
  public record Gap(String why, boolean mayBeReplayed) {}

  public StreamSnapshot {
    if (lastSequence < 0 || lastSequence == Long.MAX_VALUE) {
      throw new IllegalArgumentException("lastSequence=" + lastSequence);
    }
  }
}
