package dev.warmpath.lab.chaos;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Asks a router for {@code /health/live} ten times a second, as a supervisor does, and counts
 * answers that take longer than a second or do not come.
 *
 * <p>Thread-safe.
 */
final class HealthWatch {

  static final Duration LIMIT = Duration.ofSeconds(1);

  private static final long PAUSE_MILLIS = 100;

  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(LIMIT).build();
  private final HttpRequest request;
  private final AtomicInteger asked = new AtomicInteger();
  private final AtomicInteger late = new AtomicInteger();
  private final Thread thread;
  private volatile boolean ended;

  HealthWatch(int port) {
    request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/health/live"))
            .timeout(LIMIT)
            .build();
    thread = new Thread(this::run, "day-health");
    thread.setDaemon(true);
    thread.start();
  }

  int asked() {
    return asked.get();
  }

  /** Checks that were answered too late, not at all, or not with 200. */
  int late() {
    return late.get();
  }

  private void run() {
    try {
      while (!ended) {
        asked.incrementAndGet();
        if (!isHealthy()) {
          late.incrementAndGet();
        }
        TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean isHealthy() throws InterruptedException {
    try {
      return http.send(request, BodyHandlers.discarding()).statusCode() == 200;
    } catch (IOException e) {
      return false;
    }
  }

  /** Ends the watch. */
  void end() throws InterruptedException {
    ended = true;
    thread.join();
  }
}
