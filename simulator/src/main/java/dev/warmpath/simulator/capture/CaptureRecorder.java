package dev.warmpath.simulator.capture;

import dev.warmpath.eventingest.StreamCounter;
import dev.warmpath.eventingest.capture.CaptureHeader.CaptureStream;
import dev.warmpath.eventingest.capture.CaptureRecord;
import dev.warmpath.eventingest.capture.CaptureRecord.Events;
import dev.warmpath.eventingest.capture.CaptureRecord.Replay;
import dev.warmpath.eventingest.capture.CaptureSink;
import dev.warmpath.eventingest.transport.EventPoller;
import dev.warmpath.eventingest.transport.EventSubscriber;
import dev.warmpath.eventingest.transport.LiveSink;
import dev.warmpath.eventingest.transport.ReplayClient;
import dev.warmpath.eventingest.transport.ReplayClient.ReplaySink;
import dev.warmpath.eventingest.transport.ReplayLimits;
import dev.warmpath.eventingest.wire.StreamMessage;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.zeromq.ZContext;

/**
 * Writes what engines publish into a capture file, frames untouched.
 *
 * <p>Subscribes first, then asks each replay socket once for everything it still has; what is heard
 * live until the answer is complete is written behind it.
 *
 * <p>Thread-safe.
 */
public final class CaptureRecorder {

  private static final long FLUSH_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  /** Subscriptions take effect late; what is published before is in the answer then. */
  private static final long ASK_AFTER_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  /** Half of what a reader takes as one record. */
  private static final long MAX_BYTES = 128L << 20;

  private static final ReplayLimits REPLAY =
      new ReplayLimits(1, Duration.ofSeconds(3), Duration.ofHours(1), Long.MAX_VALUE, MAX_BYTES);

  private final CaptureSink writer;
  private final List<Engine> engines;
  private final LongSupplier nanoClock;
  private final long startNanos;
  private volatile boolean stopped;
  private long batches;
  private long malformed;
  private @Nullable IOException failure;

  /**
   * An engine to record.
   *
   * @param stream how the capture's header names it
   * @param endpoint where it publishes
   * @param replayEndpoint where it answers replays, or null
   * @param topic only messages whose topic begins so; empty for all
   */
  public record Source(
      CaptureStream stream, String endpoint, @Nullable String replayEndpoint, String topic) {}

  /**
   * @param nanoClock a monotonic clock
   */
  public CaptureRecorder(CaptureSink writer, List<Source> sources, LongSupplier nanoClock) {
    this.writer = writer;
    this.nanoClock = nanoClock;
    startNanos = nanoClock.getAsLong();
    engines = sources.stream().map(Engine::new).toList();
  }

  /**
   * Records until {@code done} says so, which is asked several times a second.
   *
   * @param context closes the sockets when it is closed
   */
  public void record(ZContext context, BooleanSupplier done) throws IOException {
    EventPoller poller = new EventPoller(context, () -> {});
    ReplayClient replays = new ReplayClient(context, REPLAY, MAX_BYTES, () -> stopped);
    List<CompletableFuture<Void>> work = new ArrayList<>();
    for (Engine engine : engines) {
      String endpoint = engine.source.endpoint();
      poller.follow(new EventSubscriber(context, endpoint, false, engine, MAX_BYTES));
      String replayEndpoint = engine.source.replayEndpoint();
      if (replayEndpoint != null) {
        work.add(onOwnThread(() -> engine.ask(replays, replayEndpoint)));
      }
    }
    work.add(onOwnThread(poller));
    while (!done.getAsBoolean() && flush()) {
      LockSupport.parkNanos(FLUSH_NANOS);
    }
    stopped = true;
    poller.stop();
    work.forEach(CompletableFuture::join);
    flush();
    if (failure != null) {
      throw failure;
    }
  }

  private static CompletableFuture<Void> onOwnThread(Runnable work) {
    return CompletableFuture.runAsync(work, task -> new Thread(task, "warmpath-capture").start());
  }

  /** How many live messages have been written. */
  public synchronized long batches() {
    return batches;
  }

  /** How many messages came that were no batches, or were lost for lack of room. */
  public synchronized long malformed() {
    return malformed;
  }

  private synchronized void countMalformed() {
    malformed++;
  }

  /** Whether writing has not failed so far. */
  private synchronized boolean flush() {
    try {
      writer.flush();
    } catch (IOException e) {
      failure = failure == null ? e : failure;
    }
    return failure == null;
  }

  private synchronized void write(CaptureRecord record) {
    try {
      writer.write(record);
      batches += record instanceof Events ? 1 : 0;
    } catch (IOException e) {
      failure = failure == null ? e : failure;
    }
  }

  private double seconds() {
    return (nanoClock.getAsLong() - startNanos) / 1e9;
  }

  /** What comes from one engine: live messages wait for the answer to the replay. */
  private final class Engine implements LiveSink, ReplaySink {

    private final Source source;
    private final byte[] prefix;
    private final List<List<byte[]>> replies = new ArrayList<>();
    private final List<Events> waiting = new ArrayList<>();
    private boolean answered;

    Engine(Source source) {
      this.source = source;
      prefix = source.topic().getBytes(StandardCharsets.UTF_8);
      answered = source.replayEndpoint() == null;
    }

    void ask(ReplayClient replays, String endpoint) {
      LockSupport.parkNanos(ASK_AFTER_NANOS);
      replays.fetch(endpoint, 0, this);
      synchronized (CaptureRecorder.this) {
        write(new Replay(seconds(), source.stream().id(), 0, replies));
        answered = true;
        waiting.forEach(this::hear);
      }
    }

    @Override
    public void message(byte[] topic, StreamMessage message) {
      int alike = Arrays.mismatch(prefix, topic);
      if (alike == prefix.length || alike < 0) {
        hear(new Events(0, source.stream().id(), topic, message.sequence(), message.payload()));
      }
    }

    /** Times in a capture do not go back, so a message gets the time of its writing. */
    private void hear(Events heard) {
      synchronized (CaptureRecorder.this) {
        if (answered) {
          write(
              new Events(
                  seconds(), heard.stream(), heard.topic(), heard.sequence(), heard.payload()));
        } else {
          waiting.add(heard);
        }
      }
    }

    @Override
    public void reply(List<byte[]> frames) {
      replies.add(frames);
    }

    @Override
    public boolean batch(StreamMessage batch) {
      return true;
    }

    @Override
    public void refused() {
      countMalformed();
    }

    @Override
    public void problem(StreamCounter what) {
      countMalformed();
    }

    @Override
    public void up() {}

    @Override
    public void down() {}
  }
}
