package dev.warmpath.simulator.capture;

import dev.warmpath.eventingest.capture.CaptureOpener;
import dev.warmpath.eventingest.capture.CaptureReader;
import dev.warmpath.eventingest.capture.CaptureRecord;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;

/**
 * Where in a capture replays are answered, known ahead: a question whose answer was not recorded
 * before the next judged request must count as refused.
 *
 * <p>Confined to its verifier.
 */
final class ReplaySchedule {

  /** Per stream, by record number: replays (positive) and requests behind a mark (negative). */
  private final Map<Integer, Deque<Long>> ahead = new HashMap<>();

  static ReplaySchedule of(Path file, CaptureOpener opener) throws IOException {
    ReplaySchedule schedule = new ReplaySchedule();
    QuietStreams quiet = new QuietStreams();
    try (CaptureReader reader = opener.open(file)) {
      CaptureRecord record = reader.next();
      for (long number = 1; record != null; number++) {
        schedule.note(record, number, quiet.judges(record));
        record = reader.next();
      }
    }
    return schedule;
  }

  private void note(CaptureRecord record, long number, boolean judged) {
    if (record instanceof CaptureRecord.Replay) {
      ahead.computeIfAbsent(record.stream(), stream -> new ArrayDeque<>()).add(number);
    } else if (judged) {
      ahead.computeIfAbsent(record.stream(), stream -> new ArrayDeque<>()).add(-number);
    }
  }

  /** Whether a replay of {@code stream} is answered from record {@code number} on, and in time. */
  boolean answers(int stream, long number) {
    Deque<Long> steps = ahead.getOrDefault(stream, new ArrayDeque<>());
    while (!steps.isEmpty() && Math.abs(steps.getFirst()) < number) {
      steps.removeFirst();
    }
    return !steps.isEmpty() && steps.getFirst() > 0;
  }
}
