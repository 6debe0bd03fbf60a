package dev.warmpath.router.logs;

import dev.warmpath.eventingest.capture.CaptureRecord;
import dev.warmpath.eventingest.capture.CaptureRecord.Mark;
import dev.warmpath.eventingest.capture.CaptureSink;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What waits to be captured, in the order in which it was seen.
 *
 * <p>What finds no room, and what the disk refuses, is counted, and a mark {@code records-dropped}
 * stands in its place. A stream of which anything but requests was lost is not called quiescent any
 * more until its engine is known to be empty. The queue's own marks are not counted when they are
 * lost: they are made again.
 *
 * <p>Thread-safe.
 */
final class TapQueue implements AutoCloseable {

  /** Opens another row of files. */
  interface Files {
    CaptureSink open() throws IOException;
  }

  /** Makes the record when it is about to be written. */
  interface Entry {
    CaptureRecord at(double timeSeconds);
  }

  /** What a mark or an entry takes beside its payload. */
  static final long OVERHEAD_BYTES = 500;

  private static final int KINDS = RecordKind.values().length;
  private static final long LOOK_MILLIS = 50;

  private record Waiting(
      double timeSeconds, int stream, RecordKind kind, long bytes, Entry entry) {}

  /** The queue's own mark that records are missing. */
  private record Missing(int stream, Map<RecordKind, Long> counts) implements Entry {

    @Override
    public CaptureRecord at(double timeSeconds) {
      Map<String, @Nullable Object> detail = new LinkedHashMap<>();
      counts.forEach((kind, count) -> detail.put(kind.label(), count));
      return new Mark(timeSeconds, stream, "records-dropped", detail);
    }
  }

  /** The queue's own mark that an engine is silent. */
  private record Quiescent(int stream) implements Entry {

    @Override
    public CaptureRecord at(double timeSeconds) {
      return new Mark(timeSeconds, stream, "quiescent", Map.of());
    }
  }

  /** What was lost of a stream and is not marked yet. */
  private static final class Stream {
    private final Map<RecordKind, Long> missing = new EnumMap<>(RecordKind.class);
    private boolean unsound;
  }

  private final LongSupplier nanoClock;
  private final long beganNanos;
  private final QuietWatch quiet;
  private final DiskQueue<Waiting> queue;
  private final List<Stream> streams = new ArrayList<>();
  private final AtomicLongArray written = new AtomicLongArray(KINDS);
  private final AtomicLongArray dropped = new AtomicLongArray(KINDS);

  /**
   * A queue of no streams yet.
   *
   * @param quiet when they are quiescent
   * @param streamCount how many there are; files that are opened from then on name them all
   */
  TapQueue(
      long maxBytes,
      LongSupplier nanoClock,
      QuietWatch quiet,
      Files files,
      IntSupplier streamCount) {
    this.nanoClock = nanoClock;
    this.quiet = quiet;
    beganNanos = nanoClock.getAsLong();
    Target target = new Target(files, streamCount);
    queue = new DiskQueue<>(maxBytes, LOOK_MILLIS, Waiting::bytes, target, nanoClock);
  }

  /**
   * Opens the first files and begins to write.
   *
   * @throws IOException if they cannot be opened; then nothing is begun
   */
  void start(String threadName) throws IOException {
    queue.start(threadName);
  }

  void open() throws IOException {
    queue.open();
  }

  /** Writes what waits, once there is something or a while has passed; false when it has ended. */
  boolean writeTurn() throws InterruptedException {
    return queue.writeTurn();
  }

  /** Whether nothing can be written now. */
  boolean isFailing() {
    return queue.isFailing();
  }

  /** Bytes that wait. */
  long bytes() {
    return queue.bytes();
  }

  /** Takes records of the stream with the next number. */
  synchronized void add() {
    streams.add(new Stream());
    quiet.add(nanoClock.getAsLong());
  }

  /**
   * Adds a record if there is room and the queue is not closed; whether it was added. A mark always
   * finds room: there is one at most before each record.
   */
  synchronized boolean offer(int stream, RecordKind kind, long payloadBytes, Entry entry) {
    Waiting next = new Waiting(seconds(), stream, kind, payloadBytes + OVERHEAD_BYTES, entry);
    Map<RecordKind, Long> missing = streams.get(stream).missing;
    List<Waiting> ahead = missing.isEmpty() ? List.of() : List.of(missingMark(stream));
    boolean fits = queue.offer(ahead, next);
    if (fits) {
      missing.clear();
    } else {
      lost(stream, kind);
    }
    return fits;
  }

  /** A record of the stream was not kept. */
  synchronized void lost(int stream, RecordKind kind) {
    Stream of = streams.get(stream);
    of.missing.merge(kind, 1L, Long::sum);
    of.unsound |= kind != RecordKind.REQUEST && kind != RecordKind.RESPONSE;
    dropped.incrementAndGet(kind.ordinal());
  }

  private synchronized void refused(Waiting waiting) {
    if (waiting.entry() instanceof Missing mark) {
      Map<RecordKind, Long> missing = streams.get(mark.stream()).missing;
      mark.counts().forEach((kind, count) -> missing.merge(kind, count, Long::sum));
    } else if (waiting.entry() instanceof Quiescent mark) {
      quiet.unmarked(mark.stream());
    } else {
      lost(waiting.stream(), waiting.kind());
    }
  }

  /** The stream's engine is empty: what was lost of it no longer matters. */
  synchronized void emptied(int stream) {
    streams.get(stream).unsound = false;
  }

  /** Records that have reached the system. */
  Map<RecordKind, Long> written() {
    return byKind(written);
  }

  Map<RecordKind, Long> dropped() {
    return byKind(dropped);
  }

  private static Map<RecordKind, Long> byKind(AtomicLongArray counts) {
    Map<RecordKind, Long> named = new EnumMap<>(RecordKind.class);
    for (RecordKind kind : RecordKind.values()) {
      named.put(kind, counts.get(kind.ordinal()));
    }
    return named;
  }

  /** Writes what waits and marks what is missing, for some seconds at most, and ends. */
  @Override
  public void close() {
    synchronized (this) {
      for (int stream = 0; stream < streams.size(); stream++) {
        markMissing(stream);
      }
    }
    queue.close();
  }

  private void markMissing(int stream) {
    Map<RecordKind, Long> missing = streams.get(stream).missing;
    if (!missing.isEmpty() && queue.append(missingMark(stream))) {
      missing.clear();
    }
  }

  private Waiting missingMark(int stream) {
    return mark(stream, new Missing(stream, new EnumMap<>(streams.get(stream).missing)));
  }

  private synchronized void markSilence() {
    boolean isWritten = queue.isEmpty();
    for (int stream = 0; stream < streams.size(); stream++) {
      if (isWritten) {
        markMissing(stream);
      }
      Stream of = streams.get(stream);
      boolean isSound = !of.unsound && of.missing.isEmpty();
      if (isSound && quiet.hasBecomeQuiet(stream, nanoClock.getAsLong())) {
        queue.append(mark(stream, new Quiescent(stream)));
      }
    }
  }

  private Waiting mark(int stream, Entry entry) {
    return new Waiting(seconds(), stream, RecordKind.MARK, OVERHEAD_BYTES, entry);
  }

  private double seconds() {
    return (nanoClock.getAsLong() - beganNanos) / 1e9;
  }

  private final class Target implements DiskQueue.Target<Waiting> {

    private final Files files;
    private final IntSupplier streamCount;
    private @Nullable CaptureSink sink;
    private int streamsInFile;

    Target(Files files, IntSupplier streamCount) {
      this.files = files;
      this.streamCount = streamCount;
    }

    @Override
    public void beforeTurn() {
      markSilence();
    }

    @Override
    public void open() throws IOException {
      opened();
    }

    private CaptureSink opened() throws IOException {
      streamsInFile = streamCount.getAsInt();
      sink = files.open();
      return sink;
    }

    @Override
    public void write(List<Waiting> entries) throws IOException {
      if (streamCount.getAsInt() > streamsInFile) {
        close();
      }
      CaptureSink to = sink == null ? opened() : sink;
      for (Waiting waiting : entries) {
        to.write(waiting.entry().at(waiting.timeSeconds()));
      }
      to.flush();
      entries.forEach(waiting -> written.incrementAndGet(waiting.kind().ordinal()));
    }

    @Override
    public void close() throws IOException {
      CaptureSink open = sink;
      sink = null;
      if (open != null) {
        open.close();
      }
    }

    @Override
    public void dropped(List<Waiting> entries, boolean isBug) {
      entries.forEach(TapQueue.this::refused);
    }

    @Override
    public String toString() {
      return "the capture";
    }
  }

  /** The kinds of records, as the capture format and the metrics name them. Immutable. */
  enum RecordKind {
    EVENTS,
    REPLAY,
    REQUEST,
    RESPONSE,
    MARK;

    /** The name in files and metrics. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }
}
