package dev.warmpath.simulator.trace;

import com.fasterxml.jackson.databind.JsonNode;

/**
 * A session a line: {@code {"start": seconds, "system": NAME, "system_tokens": n, "turns":
 * [{"think": seconds, "in": new tokens, "out": tokens}, …]}}; the first turn needs no {@code
 * think}. {@link GrowingSessions} says what they share.
 */
final class SessionLines implements TraceFormat.Lines {

  private final GrowingSessions sessions = new GrowingSessions();

  @Override
  public void line(String text, TraceBuilder trace) {
    JsonNode line = Fields.object(text);
    sessions.begin(
        line.path("system").asText(""),
        Fields.whole(line, "system_tokens", 0, Fields.MOST_TOKENS, 0));
    double seconds = Fields.seconds(line, "start");
    JsonNode turns = Fields.list(line, "turns");
    if (turns.isEmpty()) {
      throw new IllegalArgumentException("'turns' is empty");
    }
    for (int i = 0; i < turns.size(); i++) {
      JsonNode turn = turns.get(i);
      sessions.turn(
          trace,
          i == 0 ? seconds : Fields.seconds(turn, "think"),
          Fields.whole(turn, "in", 0, Fields.MOST_TOKENS),
          Fields.whole(turn, "out", 0, Fields.MOST_TOKENS));
    }
  }
}
