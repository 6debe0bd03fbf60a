package dev.warmpath.simulator.demo;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A router's {@code GET /admin/fleet}, as a load reads it.
 *
 * <p>Thread-safe.
 */
public final class FleetPage {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final long POLL_MILLIS = 50;

  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final URI page;

  /**
   * @param adminUrl of the router
   */
  public FleetPage(String adminUrl) {
    page = URI.create(adminUrl + "/admin/fleet");
  }

  /** The page as it is now; an object with {@code error} when there is none. */
  public JsonNode read() throws InterruptedException {
    try {
      return JSON.readTree(
          http.send(HttpRequest.newBuilder(page).build(), BodyHandlers.ofString()).body());
    } catch (IOException e) {
      return JSON.createObjectNode().put("error", String.valueOf(e.getMessage()));
    }
  }

  /** Waits until every replica is up and its events are known in full; whether that came true. */
  public boolean awaitReady(Duration limit) throws InterruptedException {
    for (long millis = 0; millis < limit.toMillis(); millis += POLL_MILLIS) {
      if (ready(read())) {
        return true;
      }
      TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
    }
    return false;
  }

  /** What keeps the fleet from being ready, in a sentence. */
  public String problems() throws InterruptedException {
    List<String> problems = new ArrayList<>();
    JsonNode page = read();
    for (JsonNode replica : page.path("replicas")) {
      String name = replica.path("name").asText();
      if (!replica.path("health").asText().equals("up")) {
        problems.add(name + " is " + replica.path("health").asText());
      }
      for (JsonNode engine : replica.path("engines")) {
        JsonNode events = engine.path("events");
        if (!events.path("trust").asText().equals("exact")) {
          problems.add(
              "the events of %s have trust %s (%s)"
                  .formatted(
                      name,
                      events.path("trust").asText("none"),
                      events.path("reason").asText("no event came")));
        }
      }
    }
    return problems.isEmpty()
        ? page.path("error").asText("no replica")
        : String.join(", ", problems);
  }

  private static boolean ready(JsonNode page) {
    JsonNode replicas = page.path("replicas");
    for (JsonNode replica : replicas) {
      if (!replica.path("health").asText().equals("up")) {
        return false;
      }
      for (JsonNode engine : replica.path("engines")) {
        if (!engine.path("events").path("trust").asText().equals("exact")) {
          return false;
        }
      }
    }
    return !replicas.isEmpty();
  }
}
