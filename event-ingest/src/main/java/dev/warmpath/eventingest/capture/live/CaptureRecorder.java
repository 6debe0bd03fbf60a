package dev.warmpath.eventingest.capture.live;

import dev.warmpath.eventingest.capture.CaptureRecord;
import dev.warmpath.eventingest.capture.CaptureSink;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/**
 * Writes what engines publish into a capture file, frames untouched.
 *
 * <p>Subscribes first, then asks each replay socket once for everything it still has; what is heard
 * live until the answer is complete is written behind it.
 *
 * <p>Confined to the thread that calls {@link #record}.
 */
public final class CaptureRecorder {

  private static final long POLL_MILLIS = 50;

  private final CaptureSink writer;
  private final List<RecordedSource> sources;
  private final LongSupplier nanoClock;
  private final List<SourceSockets> open = new ArrayList<>();
  private long startNanos;
  private long batches;

  /**
   * @param nanoClock a monotonic clock
   */
  public CaptureRecorder(CaptureSink writer, List<RecordedSource> sources, LongSupplier nanoClock) {
    this.writer = writer;
    this.sources = List.copyOf(sources);
    this.nanoClock = nanoClock;
  }

  /**
   * Records until {@code done} says so, which is asked several times a second.
   *
   * @param context closes the sockets when it is closed
   */
  public void record(ZContext context, BooleanSupplier done) throws IOException {
    startNanos = nanoClock.getAsLong();
    try (ZMQ.Poller poller = context.createPoller(2 * sources.size())) {
      for (RecordedSource source : sources) {
        open.add(new SourceSockets(source, context, poller));
      }
      while (!done.getAsBoolean()) {
        poller.poll(POLL_MILLIS);
        for (SourceSockets sockets : open) {
          write(sockets.receive(seconds()));
        }
      }
      for (SourceSockets sockets : open) {
        write(sockets.finish(seconds()));
      }
    }
  }

  /** How many live messages have been written. */
  public long batches() {
    return batches;
  }

  /** How many messages came that were no batches; they are not written. */
  public long malformed() {
    return open.stream().mapToLong(SourceSockets::malformed).sum();
  }

  private void write(List<CaptureRecord> records) throws IOException {
    for (CaptureRecord record : records) {
      writer.write(record);
      if (record instanceof CaptureRecord.Events) {
        batches++;
      }
    }
    if (!records.isEmpty()) {
      writer.flush();
    }
  }

  private double seconds() {
    return (nanoClock.getAsLong() - startNanos) / 1e9;
  }
}
