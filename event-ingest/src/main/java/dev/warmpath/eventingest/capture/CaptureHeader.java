package dev.warmpath.eventingest.capture;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The first value of a capture file.
 *
 * @param created when the capture began, RFC 3339
 * @param note what it shows
 * @param streams the recorded engines
 * @param fields every field of the header, also those that are not known here
 */
public record CaptureHeader(
    String created,
    String note,
    List<CaptureStream> streams,
    Map<String, @Nullable Object> fields) {

  static final String FORMAT = "warmpath-capture";
  static final long VERSION = 1;

  public CaptureHeader {
    streams = List.copyOf(streams);
  }

  /** The header of a new capture. */
  public static CaptureHeader of(Instant created, String note, List<CaptureStream> streams) {
    return new CaptureHeader(created.toString(), note, streams, Map.of());
  }

  /** The stream with this id, if the header has it. */
  public Optional<CaptureStream> stream(int id) {
    return streams.stream().filter(stream -> stream.id() == id).findFirst();
  }
}
