package dev.warmpath.lab.chaos;

import dev.warmpath.router.fleet.engine.EngineReport;
import dev.warmpath.router.routing.Load;
import dev.warmpath.simulator.engine.EngineLoad;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What is still held at the router and the engines when nobody asks for anything any more.
 *
 * <p>Confined to one thread.
 */
final class Leftovers {

  private static final long POLL_MILLIS = 100;
  private static final Pattern GAUGE =
      Pattern.compile(
          "(?m)^(warmpath_(?:requests_serving|queue_requests|request_bodies_bytes|connections"
              + "|tokenizer_waiting|body_scans_waiting|engine_requests_in_flight"
              + "|engine_queued_prefill_tokens|expected_blocks)(?:\\{[^}]*})?) (\\S+)$");

  private final ChaosFleet fleet;
  private final HttpClient http = HttpClient.newHttpClient();

  Leftovers(ChaosFleet fleet) {
    this.fleet = fleet;
  }

  /** Waits until nothing is left, or so long; what is left then, by gauge. */
  Map<String, Double> await(Duration limit) throws InterruptedException {
    Map<String, Double> left = look();
    for (long millis = 0; !left.isEmpty() && millis < limit.toMillis(); millis += POLL_MILLIS) {
      TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
      left = look();
    }
    return left;
  }

  private Map<String, Double> look() throws InterruptedException {
    Map<String, Double> left = new TreeMap<>();
    left.put("RouterProcess.serving", (double) fleet.router().serving());
    for (EngineReport report : fleet.router().dispatcher().report()) {
      Load load = report.state().load();
      left.put(report.engine() + " context tokens", (double) load.contextTokens());
      left.put(report.engine() + " queued prefill ms", load.queuedPrefillMillis());
    }
    for (ChaosEngine engine : fleet.engines()) {
      EngineLoad load = engine.engine().load();
      left.put(engine.name() + " running or waiting", (double) load.running() + load.waiting());
    }
    metrics(left);
    left.values().removeIf(value -> value == 0);
    return left;
  }

  private void metrics(Map<String, Double> to) throws InterruptedException {
    String url = "http://127.0.0.1:" + fleet.router().adminPort() + "/metrics";
    try {
      String page =
          http.send(HttpRequest.newBuilder(URI.create(url)).build(), BodyHandlers.ofString())
              .body();
      Matcher gauges = GAUGE.matcher(page);
      while (gauges.find()) {
        to.put(gauges.group(1), Double.valueOf(gauges.group(2)));
      }
    } catch (IOException e) {
      to.put("no metrics: " + e, 1.0);
    }
  }
}
