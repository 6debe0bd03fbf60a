package dev.warmpath.router;

import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.eventingest.follow.StreamTap;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.dispatch.DispatchListener;
import dev.warmpath.router.logs.FleetCapture;
import dev.warmpath.router.logs.RequestLog;
import dev.warmpath.router.logs.Tracing;
import dev.warmpath.router.metrics.MetricValues;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What is written down of the fleet and its requests; each part is null if it is not wanted.
 *
 * <p>Thread-safe.
 */
record Recording(
    @Nullable FleetCapture capture,
    @Nullable RequestLog decisions,
    @Nullable RequestLog accessLog,
    @Nullable Tracing tracing)
    implements AutoCloseable {

  /**
   * Begins what the configuration wants.
   *
   * @param engines that a capture begins with
   * @param snapshots the directory of snapshots, or null
   * @throws StartException if a file cannot be written; nothing is left open then
   */
  static Recording begin(
      RouterConfig config,
      Environment environment,
      List<EngineSource> engines,
      @Nullable Path snapshots) {
    Clock clock = environment.clock();
    LongSupplier nanoClock = environment.nanoClock();
    FleetCapture capture = null;
    RequestLog decisions = null;
    RequestLog accessLog = null;
    String begun = "capture.dir";
    try {
      capture = FleetCapture.begin(config.capture(), engines, clock, nanoClock);
      begun = "decision-log.file";
      decisions = RequestLog.ofDecisions(config.decisionLog(), snapshots, clock, nanoClock);
      begun = "access-log.file";
      accessLog = RequestLog.ofAccess(config.accessLog(), clock, nanoClock);
      begun = "tracing";
      return new Recording(capture, decisions, accessLog, Tracing.begin(config.tracing()));
    } catch (IOException | IllegalArgumentException e) {
      new Recording(capture, decisions, accessLog, null).close();
      throw new StartException(begun + ": " + e, e);
    }
  }

  /** Captures these engines too, from before their events are followed. */
  void follow(List<EngineSource> engines) {
    if (capture != null) {
      capture.follow(engines);
    }
  }

  /** Sees the engines' events. */
  StreamTap events() {
    return capture == null ? StreamTap.NONE : capture.events();
  }

  /** What sees the dispatched requests. */
  List<DispatchListener> requests() {
    return capture == null ? List.of() : capture.requests();
  }

  /** How it stands, for a scrape. */
  void collect(MetricValues to) {
    if (capture != null) {
      capture.collect(to);
    }
    logs().forEach((name, log) -> log.collect(to, name));
    if (tracing != null) {
      tracing.collect(to);
    }
  }

  /** The logs of requests that there are, by their names in metrics. */
  private Map<String, RequestLog> logs() {
    Map<String, RequestLog> logs = new LinkedHashMap<>();
    logs.computeIfAbsent("decision", name -> decisions);
    logs.computeIfAbsent("access", name -> accessLog);
    return logs;
  }

  @Override
  public void close() {
    if (capture != null) {
      capture.close();
    }
    logs().values().forEach(RequestLog::close);
    if (tracing != null) {
      tracing.close();
    }
  }
}
