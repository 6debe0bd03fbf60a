package dev.warmpath.simulator.demo;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;

/**
 * Sends streaming chat requests and reads what comes back.
 *
 * <p>Thread-safe.
 */
public final class ChatClient implements ChatSender {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String PREFIX = "data: ";

  private final HttpClient http;
  private final URI endpoint;
  private final Duration idle;
  private final LongSupplier nanoClock;

  /**
   * @param baseUrl of the router or an engine
   * @param idle a request is given up when no line of its answer came for so long
   */
  public ChatClient(String baseUrl, Duration idle, LongSupplier nanoClock) {
    endpoint = URI.create(baseUrl + "/v1/chat/completions");
    this.idle = idle;
    this.nanoClock = nanoClock;
    http =
        HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(idle).build();
  }

  @Override
  public ChatReply send(String body) {
    HttpRequest request =
        HttpRequest.newBuilder(endpoint)
            .header("content-type", "application/json")
            .POST(BodyPublishers.ofString(body))
            .build();
    Reading reading = new Reading(nanoClock.getAsLong());
    CompletableFuture<HttpResponse<Void>> answer =
        http.sendAsync(request, BodyHandlers.fromLineSubscriber(reading));
    try {
      return reading.reply(await(answer, reading));
    } catch (ExecutionException e) {
      Throwable cause = e.getCause() == null ? e : e.getCause();
      return ChatReply.failed(cause.getClass().getSimpleName());
    } catch (TimeoutException e) {
      return ChatReply.failed("nothing came for " + idle.toMillis() + " ms");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return ChatReply.failed("interrupted");
    } finally {
      answer.cancel(true);
    }
  }

  /** Waits for the end of the answer, as long as something comes. */
  private <T> T await(CompletableFuture<T> answer, Reading reading)
      throws ExecutionException, TimeoutException, InterruptedException {
    while (true) {
      long leftNanos = reading.heardNanos + idle.toNanos() - nanoClock.getAsLong();
      try {
        return answer.get(leftNanos, TimeUnit.NANOSECONDS);
      } catch (TimeoutException e) {
        if (nanoClock.getAsLong() - reading.heardNanos >= idle.toNanos()) {
          throw e;
        }
      }
    }
  }

  /** What a stream has said so far. Confined to one thread at a time. */
  private final class Reading implements Flow.Subscriber<String> {
    private final long start;
    private final StringBuilder text = new StringBuilder();
    private volatile long heardNanos;
    private double firstTokenMillis = -1;
    private double lastTokenMillis;
    private int promptTokens;
    private int answerTokens;
    private int cachedTokens = -1;
    private boolean done;
    private boolean broken;

    Reading(long start) {
      this.start = start;
      heardNanos = start;
    }

    @Override
    public void onSubscribe(Flow.Subscription lines) {
      heardNanos = nanoClock.getAsLong();
      lines.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(String line) {
      heardNanos = nanoClock.getAsLong();
      if (line.startsWith(PREFIX)) {
        take(line.substring(PREFIX.length()));
      }
    }

    @Override
    public void onError(Throwable failure) {} // the answer tells

    @Override
    public void onComplete() {}

    private void take(String data) {
      if (data.equals("[DONE]")) {
        done = true;
        return;
      }
      try {
        take(JSON.readTree(data));
      } catch (JsonProcessingException e) {
        broken = true;
      }
    }

    private void take(JsonNode chunk) {
      broken |= chunk.has("error");
      String piece = chunk.path("choices").path(0).path("delta").path("content").asText("");
      if (!piece.isEmpty()) {
        lastTokenMillis = (heardNanos - start) / 1e6;
        firstTokenMillis = firstTokenMillis < 0 ? lastTokenMillis : firstTokenMillis;
      }
      text.append(piece);
      JsonNode usage = chunk.path("usage");
      if (usage.isObject()) {
        promptTokens = usage.path("prompt_tokens").asInt();
        answerTokens = usage.path("completion_tokens").asInt();
        cachedTokens = usage.path("prompt_tokens_details").path("cached_tokens").asInt(-1);
      }
    }

    ChatReply reply(HttpResponse<?> response) {
      if (response.statusCode() != 200) {
        return ChatReply.failed("status " + response.statusCode());
      }
      if (!done || broken) {
        return ChatReply.failed("the stream broke off");
      }
      return new ChatReply(
          response.headers().firstValue("x-warmpath-replica").orElse(null),
          promptTokens,
          cachedTokens,
          predicted(response),
          firstTokenMillis,
          tokenMillis(),
          text.toString(),
          null);
    }

    private double tokenMillis() {
      return firstTokenMillis < 0 || answerTokens < 2
          ? Double.NaN
          : (lastTokenMillis - firstTokenMillis) / (answerTokens - 1);
    }

    private int predicted(HttpResponse<?> response) {
      String header = response.headers().firstValue("x-warmpath-cached-tokens").orElse("");
      return header.matches("\\d{1,9}") ? Integer.parseInt(header) : -1;
    }
  }
}
