package dev.warmpath.router.logs;

import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.util.Collection;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntConsumer;

/**
 * Spans that wait for the collector, up to a number; more are dropped and counted. OpenTelemetry
 * makes the batches; its own queue would drop without counting, and is never full here.
 *
 * <p>Thread-safe.
 */
final class SpanQueue implements SpanProcessor {

  private final int limit;
  private final AtomicInteger waiting = new AtomicInteger();
  private final LongAdder dropped = new LongAdder();
  private final CountedExporter exporter;
  private final SpanProcessor batches;

  SpanQueue(SpanExporter collector, int limit) {
    this.limit = limit;
    this.exporter = new CountedExporter(collector, spans -> waiting.addAndGet(-spans));
    this.batches = BatchSpanProcessor.builder(exporter).setMaxQueueSize(limit).build();
  }

  @Override
  public void onStart(Context parent, ReadWriteSpan span) {
    batches.onStart(parent, span);
  }

  @Override
  public boolean isStartRequired() {
    return batches.isStartRequired();
  }

  @Override
  public void onEnd(ReadableSpan span) {
    if (!span.getSpanContext().isSampled()) {
      return;
    }
    if (waiting.incrementAndGet() > limit) {
      waiting.decrementAndGet();
      dropped.increment();
    } else {
      batches.onEnd(span);
    }
  }

  @Override
  public boolean isEndRequired() {
    return true;
  }

  @Override
  public CompletableResultCode forceFlush() {
    return batches.forceFlush();
  }

  @Override
  public CompletableResultCode shutdown() {
    return batches.shutdown();
  }

  long exported() {
    return exporter.exported();
  }

  long failed() {
    return exporter.failed();
  }

  long dropped() {
    return dropped.sum();
  }

  /**
   * Counts the spans that another exporter sends.
   *
   * <p>Thread-safe.
   */
  private static final class CountedExporter implements SpanExporter {

    private final SpanExporter exporter;
    private final IntConsumer begun;
    private final LongAdder exported = new LongAdder();
    private final LongAdder failed = new LongAdder();

    /**
     * @param begun gets the size of each batch when it is given to {@code exporter}
     */
    CountedExporter(SpanExporter exporter, IntConsumer begun) {
      this.exporter = exporter;
      this.begun = begun;
    }

    @Override
    public CompletableResultCode export(Collection<SpanData> spans) {
      int count = spans.size();
      begun.accept(count);
      CompletableResultCode result = exporter.export(spans);
      return result.whenComplete(() -> (result.isSuccess() ? exported : failed).add(count));
    }

    @Override
    public CompletableResultCode flush() {
      return exporter.flush();
    }

    @Override
    public CompletableResultCode shutdown() {
      return exporter.shutdown();
    }

    long exported() {
      return exported.sum();
    }

    long failed() {
      return failed.sum();
    }
  }
}
