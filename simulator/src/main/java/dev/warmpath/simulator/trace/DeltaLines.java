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
    JsonNode line = TraceFile.object(text);
    if (line.has("format")) {
      return;
    }
    int session = TraceFormat.whole(line, "s");
    Long lane = (long) session << 32 | TraceFormat.whole(line, "l");
    int before = lastOfLane.getOrDefault(lane, Trace.NONE);
    double seconds =
        before == Trace.NONE
            ? TraceFormat.number(line, "t")
            : Math.min(TraceFormat.number(line, "think"), MOST_THINK_SECONDS);
    lastOfLane.put(lane, trace.requests());
    int prompt = TraceFormat.whole(line, "in");
    trace.request(seconds, before, session, prompt, TraceFormat.whole(line, "out"));
    int keep = TraceFormat.whole(line, "keep");
    if (keep > 0) {
      if (before == Trace.NONE) {
        throw new IllegalArgumentException("'keep' in the first turn of a lane");
      }
      trace.blocksOf(before, keep);
    }
    for (JsonNode run : line.path("new")) {
      trace.blocks(run.path(0).intValue(), run.path(1).intValue());
    }
  }
}
