package dev.warmpath.router.doctor.facts;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Where one rank publishes its events, by vLLM's {@code /kv_event_sources}.
 *
 * @param endpoint as the engine was given it, such as {@code tcp://*:5557}
 * @param replayEndpoint likewise; null if replay is off
 */
public record EventSource(int rank, String endpoint, @Nullable String replayEndpoint) {

  /** All ranks of an answer; empty if the engine publishes nothing. */
  public static List<EventSource> read(JsonNode answer) {
    List<EventSource> sources = new ArrayList<>();
    for (Map.Entry<String, JsonNode> source : answer.properties()) {
      JsonNode endpoint = source.getValue().path("endpoint");
      if (source.getKey().matches("[0-9]{1,4}") && endpoint.isTextual()) {
        sources.add(
            new EventSource(
                Integer.parseInt(source.getKey()),
                endpoint.textValue(),
                source.getValue().path("replay_endpoint").textValue()));
      }
    }
    return sources;
  }
}
