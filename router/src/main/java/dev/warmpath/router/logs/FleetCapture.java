package dev.warmpath.router.logs;

import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.eventingest.capture.CaptureHeader;
import dev.warmpath.eventingest.capture.CaptureRecord.Events;
import dev.warmpath.eventingest.capture.CaptureRecord.Mark;
import dev.warmpath.eventingest.capture.CaptureRecord.Replay;
import dev.warmpath.eventingest.capture.CaptureSink;
import dev.warmpath.eventingest.capture.RotatingCaptureWriter;
import dev.warmpath.eventingest.follow.StreamTap;
import dev.warmpath.eventingest.wire.StreamMessage;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.dispatch.DispatchListener;
import dev.warmpath.router.logs.TapQueue.RecordKind;
import dev.warmpath.router.metrics.Metric;
import dev.warmpath.router.metrics.MetricValues;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Records what the router hears of its engines, and if wanted what it asks of them, in a row of
 * capture files.
 *
 * <p>Nothing that is recorded waits for the disk: what a bounded queue has no room for is left out,
 * counted, and marked in the file.
 *
 * <p>Thread-safe.
 */
public final class FleetCapture implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(FleetCapture.class);
  private static final long BYTES_PER_MB = 1 << 20;

  /** Half of what a reader takes as one record. */
  private static final long MAX_REPLAY_BYTES = 128 << 20;

  private static final String PREFIX = "router-";
  private static final String SUFFIX = ".wpc.gz";
  private static final DateTimeFormatter STAMP =
      DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss.SSS'Z'", Locale.ROOT).withZone(ZoneOffset.UTC);

  private final RouterConfig.Capture config;
  private final StreamNumbers numbers = new StreamNumbers();
  private final QuietWatch quiet;
  private final TapQueue queue;
  private final LongSupplier nanoClock;
  private int rows;

  private FleetCapture(
      RouterConfig.Capture config,
      Path directory,
      List<EngineSource> engines,
      Clock clock,
      LongSupplier nanoClock)
      throws IOException {
    this.config = config;
    this.nanoClock = nanoClock;
    long quietNanos =
        config.requests() ? TimeUnit.MILLISECONDS.toNanos(config.quietMs()) : Long.MAX_VALUE;
    quiet = new QuietWatch(quietNanos);
    Instant begin = clock.instant();
    TapQueue.Files files =
        () ->
            open(
                directory,
                CaptureHeader.of(begin, "recorded by a router", numbers.streams()),
                clock);
    queue = new TapQueue(maxQueueBytes(), nanoClock, quiet, files, numbers::count);
    follow(engines);
    queue.start("warmpath-capture");
  }

  /**
   * Begins to record; null if no directory is configured, which is made if it is not there.
   *
   * @param engines those that are known; others may {@link #follow}
   */
  public static @Nullable FleetCapture begin(
      RouterConfig.Capture config, List<EngineSource> engines, Clock clock, LongSupplier nanoClock)
      throws IOException {
    if (config.dir() == null) {
      return null;
    }
    Path directory = Path.of(config.dir());
    Files.createDirectories(directory);
    return new FleetCapture(config, directory, engines, clock, nanoClock);
  }

  /** Records these engines too, from before they are followed. */
  public void follow(List<EngineSource> engines) {
    for (EngineSource engine : engines) {
      if (!numbers.add(engine, queue::add)) {
        LOG.warn("engine {} is not captured: {} were before it", engine.id(), StreamNumbers.MOST);
      }
    }
  }

  /** Hears the engines' sockets. */
  public StreamTap events() {
    long longest = Math.min(MAX_REPLAY_BYTES, maxQueueBytes());
    return new EventTap(numbers, queue, quiet, nanoClock, longest);
  }

  /** What hears the dispatcher; nothing if requests are not wanted. */
  public List<DispatchListener> requests() {
    return config.requests()
        ? List.of(new RequestTap(numbers, queue, quiet, nanoClock))
        : List.of();
  }

  /** How the capture stands, for a scrape. */
  public void collect(MetricValues to) {
    queue
        .written()
        .forEach((kind, count) -> to.add(Metric.CAPTURE_RECORDS_TOTAL, count, kind.label()));
    queue
        .dropped()
        .forEach((kind, count) -> to.add(Metric.CAPTURE_DROPPED_TOTAL, count, kind.label()));
    long waitingBytes = queue.bytes();
    to.add(Metric.CAPTURE_QUEUE_BYTES, waitingBytes);
    to.add(Metric.CAPTURE_QUEUE_SHARE, (double) waitingBytes / maxQueueBytes());
    to.add(Metric.CAPTURE_FAILING, queue.isFailing() ? 1 : 0);
  }

  /** Writes what waits, for some seconds at most, and ends. */
  @Override
  public void close() {
    queue.close();
  }

  private long maxQueueBytes() {
    return config.queueMb() * BYTES_PER_MB;
  }

  private CaptureSink open(Path directory, CaptureHeader header, Clock clock) throws IOException {
    rows++;
    String row = PREFIX + STAMP.format(clock.instant()) + "-" + rows;
    Path file = directory.resolve(row + SUFFIX);
    RotatingCaptureWriter.Limits limits =
        new RotatingCaptureWriter.Limits(config.maxMb() * BYTES_PER_MB, config.keep());
    return RotatingCaptureWriter.create(file, header, limits, earlier(directory));
  }

  /** The files that are there, oldest first, as their names sort. */
  private static List<Path> earlier(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.filter(FleetCapture::isOurs).sorted().toList();
    }
  }

  private static boolean isOurs(Path file) {
    String name = file.getFileName().toString();
    return name.startsWith(PREFIX) && name.endsWith(SUFFIX);
  }

  /**
   * Puts what the subscribers receive into a capture's queue.
   *
   * <p>Thread-safe.
   */
  private static final class EventTap implements StreamTap {

    private final StreamNumbers numbers;
    private final TapQueue queue;
    private final QuietWatch quiet;
    private final LongSupplier nanoClock;
    private final long maxReplayBytes;
    private final Set<EngineId> lost = ConcurrentHashMap.newKeySet();

    /**
     * @param maxReplayBytes a longer answer of a replay socket is left out
     */
    EventTap(
        StreamNumbers numbers,
        TapQueue queue,
        QuietWatch quiet,
        LongSupplier nanoClock,
        long maxReplayBytes) {
      this.numbers = numbers;
      this.queue = queue;
      this.quiet = quiet;
      this.nanoClock = nanoClock;
      this.maxReplayBytes = maxReplayBytes;
    }

    @Override
    public void live(EngineId engine, byte[] topic, StreamMessage message) {
      int stream = numbers.of(engine);
      if (stream != StreamNumbers.NONE) {
        quiet.heard(stream, nanoClock.getAsLong());
        queue.offer(
            stream,
            RecordKind.EVENTS,
            message.payload().length,
            time -> new Events(time, stream, topic, message.sequence(), message.payload()));
      }
    }

    @Override
    public @Nullable Replies replay(EngineId engine, long fromSequence) {
      int stream = numbers.of(engine);
      if (stream == StreamNumbers.NONE) {
        return null;
      }
      quiet.began(stream);
      return new Answer(stream, fromSequence);
    }

    @Override
    public void connected(EngineId engine) {
      if (lost.remove(engine)) {
        mark(engine, "subscriber-back", Map.of());
      }
      connected(engine, true);
    }

    @Override
    public void disconnected(EngineId engine) {
      connected(engine, false);
      lost.add(engine);
      mark(engine, "subscriber-lost", Map.of());
    }

    private void connected(EngineId engine, boolean is) {
      int stream = numbers.of(engine);
      if (stream != StreamNumbers.NONE) {
        quiet.connected(stream, is);
      }
    }

    @Override
    public void restarted(EngineId engine, String why) {
      emptied(engine, "engine-started", why);
    }

    @Override
    public void cleared(EngineId engine, String why) {
      emptied(engine, "prefix-cache-reset", why);
    }

    private void emptied(EngineId engine, String mark, String why) {
      if (mark(engine, mark, Map.of("why", why))) {
        queue.emptied(numbers.of(engine));
      }
    }

    private boolean mark(EngineId engine, String name, Map<String, @Nullable Object> detail) {
      int stream = numbers.of(engine);
      if (stream == StreamNumbers.NONE) {
        return false;
      }
      quiet.heard(stream, nanoClock.getAsLong());
      return queue.offer(stream, RecordKind.MARK, 0, time -> new Mark(time, stream, name, detail));
    }

    /** One answer of a replay socket, a record when it is complete. */
    private final class Answer implements Replies {

      private final int stream;
      private final long fromSequence;
      private final List<List<byte[]>> replies = new ArrayList<>();
      private long bytes;

      Answer(int stream, long fromSequence) {
        this.stream = stream;
        this.fromSequence = fromSequence;
      }

      @Override
      public void reply(List<byte[]> frames) {
        bytes += TapQueue.OVERHEAD_BYTES;
        frames.forEach(frame -> bytes += frame.length);
        if (bytes <= maxReplayBytes) {
          replies.add(frames);
        } else {
          replies.clear();
        }
      }

      /** An engine that said nothing has not answered. */
      @Override
      public void ended() {
        if (bytes > maxReplayBytes) {
          queue.lost(stream, RecordKind.REPLAY);
        } else if (!replies.isEmpty()) {
          queue.offer(
              stream,
              RecordKind.REPLAY,
              bytes,
              time -> new Replay(time, stream, fromSequence, replies));
        }
        quiet.ended(stream, nanoClock.getAsLong());
      }
    }
  }
}
