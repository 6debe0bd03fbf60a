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
    JsonNode line = LineFields.object(text);
    sessions.begin(
        line.path("system").asText(""),
        LineFields.whole(line, "system_tokens", 0, LineFields.MOST_TOKENS, 0));
    double seconds = LineFields.seconds(line, "start");
    JsonNode turns = LineFields.list(line, "turns");
    if (turns.isEmpty()) {
      throw new IllegalArgumentException("'turns' is empty");
    }
    for (int i = 0; i < turns.size(); i++) {
      JsonNode turn = turns.get(i);
      sessions.turn(
          trace,
          i == 0 ? seconds : LineFields.seconds(turn, "think"),
          LineFields.whole(turn, "in", 0, LineFields.MOST_TOKENS),
          LineFields.whole(turn, "out", 0, LineFields.MOST_TOKENS));
    }
  }
}
