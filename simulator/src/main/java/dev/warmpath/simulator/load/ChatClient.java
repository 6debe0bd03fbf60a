package dev.warmpath.simulator.load;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Sends streaming chat requests and reads what comes back.
 *
 * <p>Thread-safe.
 */
public final class ChatClient implements ChatSender {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final String PREFIX = "data: ";

  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(TIMEOUT).build();
  private final URI endpoint;
  private final LongSupplier nanoClock;

  /**
   * @param baseUrl of the router or an engine
   */
  public ChatClient(String baseUrl, LongSupplier nanoClock) {
    endpoint = URI.create(baseUrl + "/v1/chat/completions");
    this.nanoClock = nanoClock;
  }

  @Override
  public ChatReply send(String body) {
    HttpRequest request =
        HttpRequest.newBuilder(endpoint)
            .timeout(TIMEOUT)
            .header("content-type", "application/json")
            .POST(BodyPublishers.ofString(body))
            .build();
    long start = nanoClock.getAsLong();
    try {
      HttpResponse<InputStream> response = http.send(request, BodyHandlers.ofInputStream());
      return read(response, start);
    } catch (IOException e) {
      return ChatReply.failed(e.getClass().getSimpleName());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return ChatReply.failed("interrupted");
    }
  }

  private ChatReply read(HttpResponse<InputStream> response, long start) throws IOException {
    if (response.statusCode() != 200) {
      response.body().close();
      return ChatReply.failed("status " + response.statusCode());
    }
    Reading reading = new Reading(start);
    try (BufferedReader lines =
        new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8))) {
      String line = lines.readLine();
      while (line != null) {
        if (line.startsWith(PREFIX)) {
          reading.take(line.substring(PREFIX.length()));
        }
        line = lines.readLine();
      }
    }
    return reading.reply(response);
  }

  /** What a stream has said so far. Confined to the reading thread. */
  private final class Reading {
    private final long start;
    private final StringBuilder text = new StringBuilder();
    private double firstTokenMillis = -1;
    private int promptTokens;
    private int cachedTokens = -1;
    private boolean done;
    private boolean broken;

    Reading(long start) {
      this.start = start;
    }

    void take(String data) throws IOException {
      if (data.equals("[DONE]")) {
        done = true;
        return;
      }
      JsonNode chunk = JSON.readTree(data);
      broken |= chunk.has("error");
      String piece = chunk.path("choices").path(0).path("delta").path("content").asText("");
      if (!piece.isEmpty() && firstTokenMillis < 0) {
        firstTokenMillis = (nanoClock.getAsLong() - start) / 1e6;
      }
      text.append(piece);
      JsonNode usage = chunk.path("usage");
      if (usage.isObject()) {
        promptTokens = usage.path("prompt_tokens").asInt();
        cachedTokens = usage.path("prompt_tokens_details").path("cached_tokens").asInt(-1);
      }
    }

    ChatReply reply(HttpResponse<InputStream> response) {
      if (!done || broken) {
        return ChatReply.failed("the stream broke off");
      }
      return new ChatReply(
          response.headers().firstValue("x-warmpath-replica").orElse(null),
          promptTokens,
          cachedTokens,
          predicted(response),
          firstTokenMillis,
          text.toString(),
          null);
    }

    private int predicted(HttpResponse<InputStream> response) {
      String header = response.headers().firstValue("x-warmpath-cached-tokens").orElse("");
      return header.matches("\\d{1,9}") ? Integer.parseInt(header) : -1;
    }
  }
}
