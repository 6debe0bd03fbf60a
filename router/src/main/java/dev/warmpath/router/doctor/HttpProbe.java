package dev.warmpath.router.doctor;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.eventingest.Clocks;
import dev.warmpath.router.doctor.HttpFacts.EngineKind;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.health.MetricsPage;
import dev.warmpath.router.health.ModelInfo;
import dev.warmpath.router.health.ServedModel;
import dev.warmpath.router.members.AnnouncedRanks;
import dev.warmpath.router.upstream.EngineClient.Answer;
import dev.warmpath.router.upstream.EngineHttp;
import io.netty.channel.ConnectTimeoutException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Asks a replica's HTTP routes that cost it nothing. Blocks.
 *
 * <p>Thread-safe.
 */
final class HttpProbe {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int OK = 200;

  /** A date header shows whole seconds. */
  private static final double HALF_A_SECOND = 0.5;

  private final EngineHttp http;
  private final Duration timeout;
  private final Clocks clocks;

  HttpProbe(EngineHttp http, Duration timeout, Clocks clocks) {
    this.http = http;
    this.timeout = timeout;
    this.clocks = clocks;
  }

  HttpFacts ask(Replica replica, boolean isSglang) {
    String path = isSglang ? "/model_info" : "/health";
    long beganNanos = clocks.nanoClock().getAsLong();
    Answer health;
    try {
      health = http.get(replica, path, timeout).join();
    } catch (CompletionException | CancellationException e) {
      return HttpFacts.unreachable(problem(e, replica.baseUrl(), timeout), path);
    }
    long tookNanos = clocks.nanoClock().getAsLong() - beganNanos;
    Instant ended = clocks.wallClock().instant();
    String page = page(replica, "/metrics");
    EngineKind kind = kind(replica, page);
    byte[] sources =
        kind == EngineKind.VLLM
            ? page(replica, "/kv_event_sources").getBytes(StandardCharsets.UTF_8)
            : new byte[0];
    return new HttpFacts(
        null,
        path,
        health.status(),
        TimeUnit.NANOSECONDS.toMillis(tookNanos),
        kind,
        version(replica, kind),
        ServedModel.read(page(replica, "/v1/models")).orElse(null),
        MetricsPage.read(page.getBytes(StandardCharsets.UTF_8)),
        AnnouncedRanks.read(sources).map(AnnouncedRanks::ranks).orElse(null),
        clockAhead(health, ended),
        isSglang ? ModelInfo.read(page(replica, "/model_info")) : ModelInfo.NONE);
  }

  /** SGLang's metrics are off by default; it has no {@code /version}. */
  private EngineKind kind(Replica replica, String metrics) {
    if (metrics.contains("\nsglang:")) {
      return EngineKind.SGLANG;
    }
    if (metrics.contains("\nvllm:") || json(replica, "/version") != null) {
      return EngineKind.VLLM;
    }
    return json(replica, "/server_info") != null ? EngineKind.SGLANG : EngineKind.OTHER;
  }

  private String version(Replica replica, EngineKind kind) {
    JsonNode told =
        switch (kind) {
          case VLLM -> json(replica, "/version");
          case SGLANG -> json(replica, "/server_info");
          case OTHER -> null;
        };
    return told == null ? "" : told.path("version").asText("");
  }

  /** The route's answer, empty if it gives none. */
  private String page(Replica replica, String path) {
    try {
      Answer answer = http.get(replica, path, timeout).join();
      return answer.status() == OK ? new String(answer.body(), StandardCharsets.UTF_8) : "";
    } catch (CompletionException | CancellationException e) {
      return "";
    }
  }

  private @Nullable JsonNode json(Replica replica, String path) {
    try {
      JsonNode read = JSON.readTree(page(replica, path));
      return read.isObject() ? read : null;
    } catch (JsonProcessingException e) {
      return null;
    }
  }

  private static double clockAhead(Answer answer, Instant received) {
    String date = Objects.requireNonNullElse(answer.headers().get("date"), "");
    try {
      Instant told = ZonedDateTime.parse(date, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant();
      return Duration.between(received, told).toMillis() / 1e3 + HALF_A_SECOND;
    } catch (DateTimeException e) {
      return Double.NaN;
    }
  }

  /** Why an exchange failed, for people. */
  static String problem(Throwable failure, URI base, Duration timeout) {
    List<Throwable> causes = causes(failure);
    if (causes.stream().anyMatch(UnknownHostException.class::isInstance)) {
      return "the host name '" + base.getHost() + "' cannot be resolved";
    }
    if (causes.stream().anyMatch(ConnectTimeoutException.class::isInstance)
        || causes.stream().anyMatch(TimeoutException.class::isInstance)) {
      return "no answer within " + timeout.toMillis() + " ms";
    }
    if (causes.stream().anyMatch(ConnectException.class::isInstance)) {
      return "nothing listens at " + base.getAuthority() + " (connection refused)";
    }
    return causes.stream()
        .filter(IOException.class::isInstance)
        .findFirst()
        .orElse(causes.get(causes.size() - 1))
        .toString();
  }

  private static List<Throwable> causes(Throwable failure) {
    return Stream.iterate(failure, Objects::nonNull, cause -> cause.getCause()).toList();
  }
}
