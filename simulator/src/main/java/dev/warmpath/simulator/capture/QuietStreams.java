package dev.warmpath.simulator.capture;

import dev.warmpath.eventingest.capture.CaptureRecord;
import dev.warmpath.eventingest.capture.CaptureRecord.Mark;
import dev.warmpath.eventingest.capture.CaptureRecord.Request;
import java.util.HashSet;
import java.util.Set;

/**
 * Which streams are quiescent: everything that their engines caused so far is recorded.
 *
 * <p>Confined to its verifier.
 */
final class QuietStreams {

  private final Set<Integer> quiet = new HashSet<>();
  private boolean allQuiet;
  private final Set<Integer> busySinceAllQuiet = new HashSet<>();

  /** Takes the next record; whether it is a request that can be judged. */
  boolean judges(CaptureRecord record) {
    if (record instanceof Mark mark && mark.name().equals("quiescent")) {
      quiet(mark.stream());
    } else if (record instanceof Mark mark && mark.name().equals("records-dropped")) {
      busy(record.stream());
    } else if (record instanceof Request) {
      boolean judged = isQuiet(record.stream());
      busy(record.stream());
      return judged;
    }
    return false;
  }

  private boolean isQuiet(int stream) {
    return quiet.contains(stream) || (allQuiet && !busySinceAllQuiet.contains(stream));
  }

  private void quiet(int stream) {
    if (stream == CaptureRecord.NO_STREAM) {
      allQuiet = true;
      quiet.clear();
      busySinceAllQuiet.clear();
    } else {
      quiet.add(stream);
    }
  }

  private void busy(int stream) {
    if (stream == CaptureRecord.NO_STREAM) {
      allQuiet = false;
      quiet.clear();
    } else {
      quiet.remove(stream);
      busySinceAllQuiet.add(stream);
    }
  }
}
