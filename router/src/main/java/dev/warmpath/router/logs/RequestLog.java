package dev.warmpath.router.logs;

import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.logs.LogQueue.Waiting;
import dev.warmpath.router.metrics.Metric;
import dev.warmpath.router.metrics.MetricValues;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Clock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Writes one line for each request that is over: who got it and why, its tokens, its times, and
 * which prefixes it shares, without its text; or less, as an access log. Requests never wait for
 * the disk; what finds no room is dropped and counted.
 *
 * <p>Thread-safe.
 */
public final class RequestLog implements AutoCloseable {

  private static final long BYTES_PER_MB = 1 << 20;
  private static final long PATIENCE_MILLIS = 5_000;

  private final LogQueue queue;
  private final LogFiles files;
  private final LogWriter writer;
  private final Clock clock;
  private final Thread thread;

  private RequestLog(
      RouterConfig.LogFile config, Path file, LineFormat lines, Clock clock, LongSupplier nanoClock)
      throws IOException {
    this.clock = clock;
    queue = new LogQueue(config.queueMb() * BYTES_PER_MB);
    files = new LogFiles(file, config.maxMb() * BYTES_PER_MB, config.keep());
    writer = new LogWriter(queue, files, lines, clock, nanoClock);
    writer.open();
    thread = new Thread(writer, "warmpath-log " + files);
    thread.setDaemon(true);
    thread.start();
  }

  /**
   * Begins to log decisions; null if no file is configured.
   *
   * @param keyDirectory where the key of all hashes is kept; null: it lasts as long as the process
   * @throws IOException if the log or the key cannot be written
   */
  public static @Nullable RequestLog ofDecisions(
      RouterConfig.LogFile config, @Nullable Path keyDirectory, Clock clock, LongSupplier nanoClock)
      throws IOException {
    if (config.file() == null) {
      return null;
    }
    SecureRandom random = new SecureRandom();
    LogKey key = keyDirectory == null ? LogKey.fresh(random) : LogKey.in(keyDirectory, random);
    return new RequestLog(config, Path.of(config.file()), new DecisionLine(key), clock, nanoClock);
  }

  /**
   * Begins to log what an access log holds; null if no file is configured.
   *
   * @throws IOException if the log cannot be written
   */
  public static @Nullable RequestLog ofAccess(
      RouterConfig.LogFile config, Clock clock, LongSupplier nanoClock) throws IOException {
    return config.file() == null
        ? null
        : new RequestLog(config, Path.of(config.file()), new AccessLine(), clock, nanoClock);
  }

  /**
   * A request has just ended.
   *
   * @param pieces the prompt's {@link PromptPieces}, null if they are not known or not logged
   */
  void add(Decision decision, @Nullable BlockChain pieces) {
    long arrivedMillis = clock.millis() - Math.round(decision.times().total());
    queue.offer(new Waiting(arrivedMillis, decision, pieces));
  }

  /**
   * How the log stands, for a scrape.
   *
   * @param name {@code decision} or {@code access}
   */
  public void collect(MetricValues to, String name) {
    to.add(Metric.REQUEST_LOG_RECORDS_TOTAL, writer.written(), name);
    queue
        .dropped()
        .forEach((cause, n) -> to.add(Metric.REQUEST_LOG_DROPPED_TOTAL, n, name, cause.label()));
    to.add(Metric.REQUEST_LOG_BYTES, files.bytes(), name);
    to.add(Metric.REQUEST_LOG_QUEUE_BYTES, queue.bytes(), name);
    to.add(Metric.REQUEST_LOG_QUEUE_MAX_BYTES, queue.maxBytes(), name);
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
}
