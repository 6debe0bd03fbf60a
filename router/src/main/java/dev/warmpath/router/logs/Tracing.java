package dev.warmpath.router.logs;

import dev.warmpath.router.config.BoundedRead;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.metrics.Metric;
import dev.warmpath.router.metrics.MetricValues;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporterBuilder;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntConsumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Begins traces and sends their spans to a collector, by OTLP over HTTP. Requests never wait for
 * it: spans that find no room in its queue are dropped.
 *
 * <p>Thread-safe.
 */
public final class Tracing implements AutoCloseable {

  private static final String USUAL_PATH = "/v1/traces";
  private static final long PATIENCE_SECONDS = 2;

  private final SdkTracerProvider provider;
  private final SpanQueue queue;
  private final Tracer tracer;

  private Tracing(RouterConfig.Tracing config, SpanExporter collector) {
    this.queue = new SpanQueue(collector, config.queue());
    Sampler sampler = Sampler.parentBased(Sampler.traceIdRatioBased(config.sampleRatio()));
    this.provider =
        SdkTracerProvider.builder()
            .setSampler(sampler)
            .setResource(
                Resource.getDefault()
                    .merge(
                        Resource.create(
                            Attributes.of(
                                AttributeKey.stringKey("service.name"), config.serviceName()))))
            .addSpanProcessor(queue)
            .build();
    this.tracer = provider.get("dev.warmpath.router");
  }

  /**
   * Begins to trace; null if the configuration names no collector. Whether the collector is there
   * does not matter.
   *
   * @throws IOException if the file of headers cannot be read
   */
  public static @Nullable Tracing begin(RouterConfig.Tracing config) throws IOException {
    URI endpoint = config.endpoint();
    if (endpoint == null) {
      return null;
    }
    OtlpHttpSpanExporterBuilder builder =
        OtlpHttpSpanExporter.builder()
            .setEndpoint(address(endpoint))
            .setTimeout(Duration.ofMillis(config.timeoutMs()));
    if (config.headersFile() != null) {
      addHeaders(builder, Path.of(config.headersFile()));
    }
    return new Tracing(config, builder.build());
  }

  private static String address(URI endpoint) {
    String path = endpoint.getRawPath();
    return path == null || path.matches("/?")
        ? endpoint.toString().replaceFirst("/$", "") + USUAL_PATH
        : endpoint.toString();
  }

  private static void addHeaders(OtlpHttpSpanExporterBuilder builder, Path file)
      throws IOException {
    int number = 0;
    String text = new String(BoundedRead.now(file), StandardCharsets.UTF_8);
    for (String line : text.lines().toList()) {
      number++;
      int colon = line.indexOf(':');
      if (!line.isBlank() && colon < 1) {
        throw new IOException(file + ":" + number + ": NAME: VALUE expected");
      }
      if (!line.isBlank()) {
        builder.addHeader(line.substring(0, colon).strip(), line.substring(colon + 1).strip());
      }
    }
  }

  /**
   * A request came; null if its trace is not wanted.
   *
   * @param headers gives the values of the request's headers, null for none
   */
  public @Nullable RequestTrace accept(
      String method, String route, UnaryOperator<@Nullable String> headers) {
    Context parent =
        W3CTraceContextPropagator.getInstance()
            .extract(Context.root(), headers, HeaderGetter.INSTANCE);
    Span span =
        tracer
            .spanBuilder(method + " " + route)
            .setParent(parent)
            .setSpanKind(SpanKind.SERVER)
            .setAttribute("http.request.method", method)
            .setAttribute("http.route", route)
            .startSpan();
    return span.isRecording() ? new RequestTrace(tracer, span) : null;
  }

  /** What became of the spans, for a scrape. */
  public void collect(MetricValues to) {
    to.add(Metric.TRACE_SPANS_TOTAL, queue.exported(), "exported");
    to.add(Metric.TRACE_SPANS_TOTAL, queue.failed(), "failed");
    to.add(Metric.TRACE_SPANS_TOTAL, queue.dropped(), "dropped");
  }

  /** Sends what waits, for some seconds at most, and ends. */
  @Override
  public void close() {
    provider.shutdown().join(PATIENCE_SECONDS, TimeUnit.SECONDS);
  }

  /** Reads the headers of a request for a propagator. */
  private enum HeaderGetter implements TextMapGetter<UnaryOperator<@Nullable String>> {
    INSTANCE;

    @Override
    public Iterable<String> keys(UnaryOperator<@Nullable String> headers) {
      return List.of();
    }

    @Override
    public @Nullable String get(@Nullable UnaryOperator<@Nullable String> headers, String name) {
      return headers == null ? null : headers.apply(name);
    }
  }

  /**
   * Spans that wait for the collector, up to a number; more are dropped and counted. OpenTelemetry
   * makes the batches; its own queue would drop without counting, and is never full here.
   *
   * <p>Thread-safe.
   */
  private static final class SpanQueue implements SpanProcessor {

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
}
