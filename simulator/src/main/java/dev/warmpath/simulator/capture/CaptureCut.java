package dev.warmpath.simulator.capture;

import dev.warmpath.eventingest.capture.CaptureException;
import dev.warmpath.eventingest.capture.CaptureOpener;
import dev.warmpath.eventingest.capture.CaptureReader;
import dev.warmpath.eventingest.capture.CaptureRecord;
import dev.warmpath.eventingest.capture.CaptureSink;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;

/**
 * A part of a capture: some time of it, and some of its streams.
 *
 * @param fromSeconds records before this are left out
 * @param toSeconds and those from here on
 * @param streams ids of the streams that are kept; empty for all
 */
public record CaptureCut(double fromSeconds, double toSeconds, Set<Integer> streams) {

  public CaptureCut {
    streams = Set.copyOf(streams);
    if (!(fromSeconds <= toSeconds)) {
      throw new IllegalArgumentException("fromSeconds=" + fromSeconds + " toSeconds=" + toSeconds);
    }
  }

  /**
   * Writes the part to a new file, under the same header and times. Nothing is read behind the end
   * of the part, so what is whole of a damaged file can be cut out.
   *
   * @return how many records were kept
   */
  public long write(Path from, Path to, CaptureOpener opener) throws IOException {
    try (CaptureReader reader = opener.open(from)) {
      for (int stream : streams) {
        if (reader.header().stream(stream).isEmpty()) {
          throw new CaptureException(from + ": has no stream " + stream);
        }
      }
      return NewCapture.write(to, reader.header(), sink -> write(reader, sink));
    }
  }

  private long write(CaptureReader reader, CaptureSink to) throws IOException {
    long kept = 0;
    CaptureRecord record = reader.next();
    while (record != null && record.timeSeconds() < toSeconds) {
      if (keeps(record)) {
        to.write(record);
        kept++;
      }
      record = reader.next();
    }
    return kept;
  }

  private boolean keeps(CaptureRecord record) {
    return record.timeSeconds() >= fromSeconds
        && record.timeSeconds() < toSeconds
        && (streams.isEmpty()
            || record.stream() == CaptureRecord.NO_STREAM
            || streams.contains(record.stream()));
  }
}
