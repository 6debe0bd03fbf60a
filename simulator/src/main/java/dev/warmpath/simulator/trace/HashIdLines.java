package dev.warmpath.simulator.trace;

import com.fasterxml.jackson.databind.JsonNode;

/**
 * Lines of {@code {"timestamp", "input_length", "output_length", "hash_ids"}}; an id names a block
 * and all before it. Mooncake's and Bailian's traces differ in units.
 */
final class HashIdLines implements TraceFormat.Lines {

  private final int blockTokens;
  private final double timeSeconds;
  private double beginSeconds = Double.NaN;

  HashIdLines(int blockTokens, double timeSeconds) {
    this.blockTokens = blockTokens;
    this.timeSeconds = timeSeconds;
  }

  @Override
  public void line(String text, TraceBuilder trace) {
    JsonNode line = LineFields.object(text);
    double seconds = LineFields.number(line, "timestamp") * timeSeconds;
    beginSeconds = Double.isNaN(beginSeconds) ? seconds : beginSeconds;
    int prompt = LineFields.whole(line, "input_length", 1, LineFields.MOST_TOKENS);
    trace.request(
        Math.max(0, seconds - beginSeconds),
        Trace.NONE,
        Trace.NONE,
        prompt,
        LineFields.whole(line, "output_length", 0, LineFields.MOST_TOKENS));
    int full = prompt / blockTokens;
    for (JsonNode id : LineFields.list(line, "hash_ids")) {
      int number = LineFields.block(id, "hash_ids");
      if (full-- > 0) {
        trace.blocks(number, 1);
      }
    }
  }
}
