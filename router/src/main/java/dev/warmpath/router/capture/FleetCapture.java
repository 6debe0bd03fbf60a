package dev.warmpath.router.capture;

import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.eventingest.capture.CaptureHeader;
import dev.warmpath.eventingest.capture.CaptureSink;
import dev.warmpath.eventingest.capture.RotatingCaptureWriter;
import dev.warmpath.eventingest.follow.StreamTap;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.fleet.dispatch.DispatchListener;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

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

  private static final long BYTES_PER_MB = 1 << 20;
  private static final long PATIENCE_MILLIS = 5_000;

  /** Half of what a reader takes as one record. */
  private static final long MAX_REPLAY_BYTES = 128 << 20;

  private static final String PREFIX = "router-";
  private static final String SUFFIX = ".wpc.gz";
  private static final DateTimeFormatter STAMP =
      DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss.SSS'Z'", Locale.ROOT).withZone(ZoneOffset.UTC);

  private final RouterConfig.Capture config;
  private final StreamNumbers numbers;
  private final QuietWatch quiet;
  private final TapQueue queue;
  private final TapWriter writer;
  private final Thread thread;
  private final LongSupplier nanoClock;

  private FleetCapture(
      RouterConfig.Capture config,
      Path directory,
      List<EngineSource> engines,
      Clock clock,
      LongSupplier nanoClock)
      throws IOException {
    this.config = config;
    this.nanoClock = nanoClock;
    numbers = new StreamNumbers(engines);
    long now = nanoClock.getAsLong();
    long quietNanos =
        config.requests() ? TimeUnit.MILLISECONDS.toNanos(config.quietMs()) : Long.MAX_VALUE;
    quiet = new QuietWatch(engines.size(), quietNanos, now);
    queue = new TapQueue(engines.size(), maxQueueBytes(), nanoClock, quiet);
    CaptureHeader header =
        CaptureHeader.of(clock.instant(), "recorded by a router", numbers.streams());
    TapWriter.Files files = () -> open(directory, header, clock);
    writer = new TapWriter(queue, files, files.open(), nanoClock);
    thread = new Thread(writer, "warmpath-capture");
    thread.setDaemon(true);
    thread.start();
  }

  /**
   * Begins to record.
   *
   * @param directory where; made if it is not there
   * @param engines those to record
   */
  public static FleetCapture begin(
      RouterConfig.Capture config,
      Path directory,
      List<EngineSource> engines,
      Clock clock,
      LongSupplier nanoClock)
      throws IOException {
    Files.createDirectories(directory);
    return new FleetCapture(config, directory, engines, clock, nanoClock);
  }

  /** Hears the engines' sockets. */
  public StreamTap events() {
    long longest = Math.min(MAX_REPLAY_BYTES, maxQueueBytes());
    return new EventTap(numbers, queue, quiet, nanoClock, longest);
  }

  /** Hears the dispatcher, for {@code next} too, if requests are wanted; else {@code next}. */
  public DispatchListener requests(DispatchListener next) {
    return config.requests()
        ? DispatchListener.both(new RequestTap(numbers, queue, quiet, nanoClock), next)
        : next;
  }

  public CaptureStatus status() {
    return new CaptureStatus(
        writer.written(), queue.dropped(), queue.bytes(), maxQueueBytes(), writer.isFailing());
  }

  /** Writes what waits, for some seconds at most, and ends. */
  @Override
  public void close() {
    queue.close();
    try {
      thread.join(PATIENCE_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private long maxQueueBytes() {
    return config.queueMb() * BYTES_PER_MB;
  }

  private CaptureSink open(Path directory, CaptureHeader header, Clock clock) throws IOException {
    Path file = directory.resolve(PREFIX + STAMP.format(clock.instant()) + SUFFIX);
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
}
