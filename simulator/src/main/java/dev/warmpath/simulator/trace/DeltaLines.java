package dev.warmpath.simulator.trace;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.Map;

/**
 * Lines of {@code {"s", "l", "k", "t", "think", "in", "out", "keep", "new"}} behind a header: turn
 * {@code k} of a lane of a session keeps the first blocks of the turn before it and goes on with
 * the runs {@code [first, count]} of {@code new}. It comes its think time after that turn is
 * answered, a minute at most; the first turn of a lane comes at its own time.
 */
final class DeltaLines implements TraceFormat.Lines {

  private static final double MOST_THINK_SECONDS = 60;

  private final Map<Long, Integer> lastOfLane = new HashMap<>();

  @Override
  public void line(String text, TraceBuilder trace) {
    JsonNode line = LineFields.object(text);
    if (line.has("format")) {
      return;
    }
    int session = LineFields.whole(line, "s", 0, Integer.MAX_VALUE);
    Long lane = (long) session << 32 | LineFields.whole(line, "l", 0, Integer.MAX_VALUE);
    int before = lastOfLane.getOrDefault(lane, Trace.NONE);
    double seconds =
        before == Trace.NONE
            ? LineFields.seconds(line, "t")
            : Math.min(LineFields.seconds(line, "think"), MOST_THINK_SECONDS);
    lastOfLane.put(lane, trace.requests());
    int prompt = LineFields.whole(line, "in", 1, LineFields.MOST_TOKENS);
    trace.request(
        seconds, before, session, prompt, LineFields.whole(line, "out", 0, LineFields.MOST_TOKENS));
    if (before == Trace.NONE) {
      keepNothing(line);
    } else {
      trace.blocksOf(before, LineFields.whole(line, "keep", 0, trace.blocks(before)));
    }
    for (JsonNode run : LineFields.list(line, "new")) {
      if (!run.isArray() || run.size() != 2) {
        throw new IllegalArgumentException(
            "'new' has " + LineFields.shown(run) + ", must have pairs [first, count]");
      }
      trace.blocks(LineFields.block(run.get(0), "new"), LineFields.block(run.get(1), "new"));
    }
  }

  private static void keepNothing(JsonNode line) {
    JsonNode keep = line.path("keep");
    if (!keep.isIntegralNumber() || keep.intValue() != 0) {
      throw LineFields.wrong("keep", keep, "0 in the first turn of a lane");
    }
  }
}
