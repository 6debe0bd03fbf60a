package dev.warmpath.router.logs;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.logs.RequestLog.Waiting;
import dev.warmpath.router.metrics.Metric;
import dev.warmpath.router.metrics.MetricValues;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
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

  /** Why a record was dropped. */
  enum DropCause {
    /** Too many bytes waited for the disk. */
    QUEUE_FULL,
    /** The disk is full, or the file cannot be written. */
    DISK,
    /** A bug of the router. */
    FAILURE
  }

  /**
   * A decision that waits.
   *
   * @param arrivedMillis when the request came, since 1970
   * @param pieces the prompt's {@link PromptPieces}, null if they are not known or not logged
   */
  record Waiting(long arrivedMillis, Decision decision, @Nullable BlockChain pieces) {

    private static final long PIECE_BYTES = 2 * Long.BYTES;

    /** About as many bytes as it takes in memory. */
    long bytes() {
      return decision.bytes() + (pieces == null ? 0 : pieces.blocks() * PIECE_BYTES);
    }
  }

  private final LogFiles files;
  private final LineFormat lines;
  private final Clock clock;
  private final DiskQueue<Waiting> queue;
  private final AtomicLong written = new AtomicLong();
  private final AtomicLongArray dropped = new AtomicLongArray(DropCause.values().length);

  RequestLog(
      LogFiles files, LineFormat lines, long maxQueueBytes, Clock clock, LongSupplier nanoClock) {
    this.files = files;
    this.lines = lines;
    this.clock = clock;
    queue = new DiskQueue<>(maxQueueBytes, 0, Waiting::bytes, new Lines(), nanoClock);
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
    return begun(config, config.file(), new DecisionLine(key), clock, nanoClock);
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
        : begun(config, config.file(), new AccessLine(), clock, nanoClock);
  }

  private static RequestLog begun(
      RouterConfig.LogFile config, String file, LineFormat lines, Clock clock, LongSupplier nanos)
      throws IOException {
    LogFiles files = new LogFiles(Path.of(file), config.maxMb() * BYTES_PER_MB, config.keep());
    RequestLog log = new RequestLog(files, lines, config.queueMb() * BYTES_PER_MB, clock, nanos);
    log.queue.start("warmpath-log " + files);
    return log;
  }

  private byte[] header() throws IOException {
    return lines.header(clock.millis());
  }

  /** What writes it. */
  DiskQueue<Waiting> queue() {
    return queue;
  }

  /**
   * A request has just ended.
   *
   * @param pieces the prompt's {@link PromptPieces}, null if they are not known or not logged
   */
  void add(Decision decision, @Nullable BlockChain pieces) {
    long arrivedMillis = clock.millis() - Math.round(decision.times().total());
    if (!queue.offer(new Waiting(arrivedMillis, decision, pieces))) {
      dropped.incrementAndGet(DropCause.QUEUE_FULL.ordinal());
    }
  }

  /** Records that reached the system. */
  long written() {
    return written.get();
  }

  /** Records that were dropped. */
  long dropped(DropCause cause) {
    return dropped.get(cause.ordinal());
  }

  /**
   * How the log stands, for a scrape.
   *
   * @param name {@code decision} or {@code access}
   */
  public void collect(MetricValues to, String name) {
    to.add(Metric.REQUEST_LOG_RECORDS_TOTAL, written(), name);
    for (DropCause cause : DropCause.values()) {
      String label = cause.name().toLowerCase(Locale.ROOT);
      to.add(Metric.REQUEST_LOG_DROPPED_TOTAL, dropped(cause), name, label);
    }
    to.add(Metric.REQUEST_LOG_BYTES, files.bytes(), name);
    to.add(Metric.REQUEST_LOG_QUEUE_BYTES, queue.bytes(), name);
    to.add(Metric.REQUEST_LOG_QUEUE_MAX_BYTES, queue.maxBytes(), name);
  }

  /** Writes what waits, for some seconds at most, and ends. */
  @Override
  public void close() {
    queue.close();
  }

  private final class Lines implements DiskQueue.Target<Waiting> {

    @Override
    public void open() throws IOException {
      files.open();
      byte[] header = header();
      if (files.isFullFor(header.length)) {
        files.rotate();
      }
      files.write(header);
      files.flush();
    }

    @Override
    public void write(List<Waiting> entries) throws IOException {
      for (Waiting waiting : entries) {
        byte[] line = lines.of(waiting);
        if (files.isFullFor(line.length)) {
          files.rotate();
          files.write(header());
          line = lines.of(waiting); // a line refers to its own file alone
        }
        files.write(line);
      }
      files.flush();
      written.addAndGet(entries.size());
    }

    @Override
    public void close() throws IOException {
      files.close();
    }

    @Override
    public void dropped(List<Waiting> entries, boolean isBug) {
      DropCause cause = isBug ? DropCause.FAILURE : DropCause.DISK;
      dropped.addAndGet(cause.ordinal(), entries.size());
    }

    @Override
    public String toString() {
      return files.toString();
    }
  }

  /**
   * Writes a request as a line of the access log. What is not known is left out.
   *
   * <p>Confined to the log's thread.
   */
  private static final class AccessLine implements LineFormat {

    private static final JsonFactory JSON = new JsonFactory();
    private static final byte[] NOTHING = {};

    @Override
    public byte[] header(long nowMillis) {
      return NOTHING;
    }

    @Override
    public byte[] of(Waiting waiting) throws IOException {
      Decision decision = waiting.decision();
      ByteArrayOutputStream line = new ByteArrayOutputStream(512);
      try (JsonGenerator json = JSON.createGenerator(line)) {
        json.writeStartObject();
        json.writeStringField("time", Instant.ofEpochMilli(waiting.arrivedMillis()).toString());
        json.writeStringField("id", decision.request().id());
        json.writeStringField("method", decision.request().method());
        json.writeStringField("path", decision.request().path());
        DecisionLine.text(json, "client", decision.request().client());
        DecisionLine.text(json, "model", decision.request().model());
        if (decision.choice() != null) {
          DecisionLine.engine(json, decision.choice());
        }
        DecisionLine.tokens(json, decision.tokens());
        DecisionLine.times(json, decision.times());
        DecisionLine.result(json, decision.result());
        json.writeEndObject();
      }
      line.write('\n');
      return line.toByteArray();
    }
  }

  /**
   * What a log writes of a request.
   *
   * <p>Confined to the log's thread.
   */
  interface LineFormat {

    /** What a file, or a process' part of one, begins with; empty for nothing. */
    byte[] header(long nowMillis) throws IOException;

    /** The line of a request. */
    byte[] of(Waiting waiting) throws IOException;
  }
}
