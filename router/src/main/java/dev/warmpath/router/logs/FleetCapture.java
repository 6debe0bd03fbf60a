package dev.warmpath.router.logs;

import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.eventingest.capture.CaptureHeader;
import dev.warmpath.eventingest.capture.CaptureSink;
import dev.warmpath.eventingest.capture.RotatingCaptureWriter;
import dev.warmpath.eventingest.follow.StreamTap;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.dispatch.DispatchListener;
import dev.warmpath.router.metrics.Metric;
import dev.warmpath.router.metrics.MetricValues;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
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
}
