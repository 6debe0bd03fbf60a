package dev.warmpath.eventingest.snapshot;

import dev.warmpath.eventingest.apply.LearnedCache;
import dev.warmpath.kvindex.snapshot.SnapshotInput;
import dev.warmpath.kvindex.snapshot.SnapshotOutput;
import java.io.IOException;
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

  void writeTo(SnapshotOutput out) {
    out.int64(lastSequence);
    out.int64(lastDigest);
    out.float64(startSeconds);
    out.flag(gap != null);
    if (gap != null) {
      out.text(gap.why);
      out.flag(gap.mayBeReplayed);
    }
    learned.writeTo(out);
  }

  static StreamSnapshot readFrom(SnapshotInput in) throws IOException {
    long lastSequence = in.int64();
    long lastDigest = in.int64();
    double startSeconds = in.float64();
    Gap gap = in.flag("gap") ? new Gap(in.text("why"), in.flag("mayBeReplayed")) : null;
    return new StreamSnapshot(
        lastSequence, lastDigest, startSeconds, gap, LearnedCache.readFrom(in));
  }
}
