package dev.warmpath.router.logs;

import dev.warmpath.eventingest.capture.CaptureRecord;
import dev.warmpath.eventingest.capture.CaptureRecord.Mark;
import dev.warmpath.eventingest.capture.CaptureSink;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
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
 * more until its engine is known to be empty.
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

  /** What was lost of a stream. */
  private static final class Stream {
    private final long[] missing = new long[KINDS];
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

  /** What writes it. */
  DiskQueue<?> queue() {
    return queue;
  }

  /** Takes records of the stream with the next number. */
  synchronized void add() {
    streams.add(new Stream());
    quiet.add(nanoClock.getAsLong());
  }

  /** Adds a record if there is room; whether there was. */
  synchronized boolean offer(int stream, RecordKind kind, long payloadBytes, Entry entry) {
    Waiting next = new Waiting(seconds(), stream, kind, payloadBytes + OVERHEAD_BYTES, entry);
    if (!queue.hasRoom(next)) {
      lost(stream, kind);
      return false;
    }
    markMissing(stream);
    queue.append(next);
    return true;
  }

  /** A record of the stream was not kept. */
  synchronized void lost(int stream, RecordKind kind) {
    Stream of = streams.get(stream);
    of.missing[kind.ordinal()]++;
    of.unsound |= kind != RecordKind.REQUEST && kind != RecordKind.RESPONSE;
    dropped.incrementAndGet(kind.ordinal());
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

  /** Writes what waits, for some seconds at most, and ends. */
  @Override
  public void close() {
    queue.close();
  }

  /** A mark always finds room: there is one at most before each record. */
  private void markMissing(int stream) {
    long[] counts = streams.get(stream).missing;
    Map<String, @Nullable Object> detail = new LinkedHashMap<>();
    for (RecordKind kind : RecordKind.values()) {
      if (counts[kind.ordinal()] > 0) {
        detail.put(kind.label(), counts[kind.ordinal()]);
      }
    }
    if (!detail.isEmpty()) {
      Arrays.fill(counts, 0);
      mark(stream, "records-dropped", detail);
    }
  }

  private synchronized void markSilence() {
    boolean isWritten = queue.isEmpty();
    for (int stream = 0; stream < streams.size(); stream++) {
      if (!streams.get(stream).unsound && quiet.hasBecomeQuiet(stream, nanoClock.getAsLong())) {
        mark(stream, "quiescent", Map.of());
      }
      if (isWritten) {
        markMissing(stream);
      }
    }
  }

  private void mark(int stream, String name, Map<String, @Nullable Object> detail) {
    Entry entry = time -> new Mark(time, stream, name, detail);
    queue.append(new Waiting(seconds(), stream, RecordKind.MARK, OVERHEAD_BYTES, entry));
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
      entries.forEach(waiting -> lost(waiting.stream(), waiting.kind()));
    }

    @Override
    public String toString() {
      return "the capture";
    }
  }
}
