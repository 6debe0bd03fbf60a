package dev.warmpath.simulator.capture;

import dev.warmpath.eventingest.capture.CaptureException;
import dev.warmpath.eventingest.capture.CaptureHeader;
import dev.warmpath.eventingest.capture.CaptureHeader.CaptureStream;
import dev.warmpath.eventingest.capture.CaptureOpener;
import dev.warmpath.eventingest.capture.CaptureReader;
import dev.warmpath.eventingest.capture.CaptureRecord;
import dev.warmpath.eventingest.capture.CaptureRecord.Events;
import dev.warmpath.eventingest.capture.CaptureRecord.Mark;
import dev.warmpath.eventingest.capture.CaptureRecord.Replay;
import dev.warmpath.eventingest.capture.CaptureRecord.Request;
import dev.warmpath.eventingest.capture.CaptureRecord.Response;
import dev.warmpath.eventingest.capture.CaptureSink;
import java.io.IOException;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * Several captures as one: their records by time, at one time in the order of the files, the
 * streams of a replica's rank as one.
 *
 * <p>Times are put right by the moments at which the captures began, as their headers say; they are
 * as good as the clocks were.
 *
 * <p>Confined to its caller's thread.
 */
public final class CaptureMerge implements AutoCloseable {

  private static final class Source {
    private final CaptureReader reader;
    private final Map<Integer, Integer> streams = new HashMap<>();
    private double offsetSeconds;
    private @Nullable CaptureRecord next;

    Source(CaptureReader reader) {
      this.reader = reader;
    }

    double timeSeconds() {
      return offsetSeconds + (next == null ? 0 : next.timeSeconds());
    }
  }

  private final List<Source> sources = new ArrayList<>();
  private final List<CaptureStream> streams = new ArrayList<>();
  private final CaptureOpener opener;
  private Instant created = Instant.EPOCH;

  private CaptureMerge(CaptureOpener opener) {
    this.opener = opener;
  }

  /**
   * Writes all records of {@code files} to a new file.
   *
   * @return how many records
   */
  public static long write(List<Path> files, Path to, String note, CaptureOpener opener)
      throws IOException {
    try (CaptureMerge merge = new CaptureMerge(opener)) {
      merge.open(files);
      CaptureHeader header = CaptureHeader.of(merge.created, note, merge.streams);
      return NewCapture.write(to, header, merge::write);
    }
  }

  private void open(List<Path> files) throws IOException {
    List<Instant> began = new ArrayList<>();
    for (Path file : files) {
      Source source = new Source(opener.open(file));
      sources.add(source);
      began.add(began(file, source.reader.header()));
      source.reader.header().streams().forEach(s -> source.streams.put(s.id(), number(s)));
    }
    began.stream().min(Comparator.naturalOrder()).ifPresent(first -> created = first);
    for (int i = 0; i < sources.size(); i++) {
      sources.get(i).offsetSeconds = Duration.between(created, began.get(i)).toNanos() / 1e9;
    }
  }

  /** The number of an engine's stream, the same for the same replica and rank. */
  private int number(CaptureStream stream) {
    for (CaptureStream known : streams) {
      if (known.replica().equals(stream.replica()) && known.dpRank() == stream.dpRank()) {
        return known.id();
      }
    }
    streams.add(numbered(stream, streams.size()));
    return streams.size() - 1;
  }

  private long write(CaptureSink to) throws IOException {
    long written = 0;
    PriorityQueue<Source> ahead =
        new PriorityQueue<>(
            Comparator.comparingDouble(Source::timeSeconds).thenComparingInt(sources::indexOf));
    for (Source source : sources) {
      advance(source, ahead);
    }
    while (!ahead.isEmpty()) {
      Source source = ahead.remove();
      if (source.next != null) {
        to.write(moved(source.next, source));
        written++;
      }
      advance(source, ahead);
    }
    return written;
  }

  @Override
  public void close() throws IOException {
    for (Source source : sources) {
      source.reader.close();
    }
  }

  private static void advance(Source source, PriorityQueue<Source> ahead) throws IOException {
    source.next = source.reader.next();
    if (source.next != null) {
      ahead.add(source);
    }
  }

  private static CaptureRecord moved(CaptureRecord record, Source source) throws IOException {
    double time = source.offsetSeconds + record.timeSeconds();
    int stream = source.streams.getOrDefault(record.stream(), CaptureRecord.NO_STREAM);
    if (record instanceof Events events) {
      return new Events(time, stream, events.topic(), events.sequence(), events.payload());
    } else if (record instanceof Replay replay) {
      return new Replay(time, stream, replay.startSequence(), replay.replies());
    } else if (record instanceof Request request) {
      return new Request(time, stream, request.requestId(), request.body());
    } else if (record instanceof Response response) {
      return new Response(time, stream, response.requestId(), response.result());
    } else if (record instanceof Mark mark) {
      return new Mark(time, stream, mark.name(), mark.detail());
    }
    throw new CaptureException("a record of an unknown kind at " + record.timeSeconds() + " s");
  }

  private static CaptureStream numbered(CaptureStream stream, int id) {
    return new CaptureStream(
        id, stream.replica(), stream.dpRank(), stream.engine(), stream.model(), stream.fields());
  }

  private static Instant began(Path file, CaptureHeader header) throws IOException {
    try {
      return Instant.parse(header.created());
    } catch (DateTimeException e) {
      throw new CaptureException(file + ": created=" + header.created() + " is no time", e);
    }
  }
}
