package dev.warmpath.router.logs;

import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.util.Collection;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntConsumer;

/**
 * Counts the spans that another exporter sends.
 *
 * <p>Thread-safe.
 */
final class CountedExporter implements SpanExporter {

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
