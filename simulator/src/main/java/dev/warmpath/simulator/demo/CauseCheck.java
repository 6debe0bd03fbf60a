package dev.warmpath.simulator.demo;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;

/**
 * Whether the tokens of each judged request that were not cached have a cause, and one only, by a
 * router's kept decisions.
 *
 * @param judged requests with a prediction, and a report of the engine
 * @param unbalanced of these, those whose causes do not add up to the tokens that were computed
 * @param tokens of all of them, by cause
 */
public record CauseCheck(int judged, int unbalanced, Map<String, Long> tokens) {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int PAGE = 1_000;

  public CauseCheck {
    tokens = Map.copyOf(tokens);
  }

  /**
   * Reads all decisions that a router keeps.
   *
   * @param adminUrl of the router
   * @param timeout of each answer
   * @throws IOException if it does not show them; says the URL, and the status if it is not 200
   */
  public static CauseCheck read(String adminUrl, Duration timeout)
      throws IOException, InterruptedException {
    HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    Sums sums = new Sums();
    String before = "";
    while (true) {
      URI page = URI.create(adminUrl + "/admin/decisions?limit=" + PAGE + before);
      JsonNode decisions = decisions(http, page, timeout);
      decisions.forEach(sums::add);
      if (decisions.size() < PAGE) {
        return new CauseCheck(sums.judged, sums.unbalanced, sums.tokens);
      }
      before = "&before=" + decisions.get(PAGE - 1).path("id").asLong();
    }
  }

  private static JsonNode decisions(HttpClient http, URI page, Duration timeout)
      throws IOException, InterruptedException {
    HttpRequest request = HttpRequest.newBuilder(page).timeout(timeout).build();
    HttpResponse<String> answer;
    try {
      answer = http.send(request, BodyHandlers.ofString());
    } catch (IOException e) {
      throw new IOException(page + " was not answered: " + e, e);
    }
    if (answer.statusCode() != HttpURLConnection.HTTP_OK) {
      throw new IOException(page + " was answered with " + answer.statusCode());
    }
    try {
      return JSON.readTree(answer.body()).required("decisions");
    } catch (JsonProcessingException | IllegalArgumentException e) {
      throw new IOException(page + " shows no decisions", e);
    }
  }

  private static final class Sums {
    private final Map<String, Long> tokens = new TreeMap<>();
    private int judged;
    private int unbalanced;

    void add(JsonNode decision) {
      if (!decision.path("predictedCachedTokens").isNumber()
          || !decision.path("cachedTokens").isNumber()) {
        return;
      }
      judged++;
      long computed =
          decision.path("promptTokens").asLong() - decision.path("cachedTokens").asLong();
      long explained = 0;
      for (Map.Entry<String, JsonNode> cause : decision.path("uncachedTokens").properties()) {
        explained += cause.getValue().asLong();
        tokens.merge(cause.getKey(), cause.getValue().asLong(), Long::sum);
      }
      unbalanced += explained == computed ? 0 : 1;
    }
  }
}
