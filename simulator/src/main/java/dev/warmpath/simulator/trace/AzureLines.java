package dev.warmpath.simulator.trace;

import java.time.LocalDateTime;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Lines of {@code TIMESTAMP,ContextTokens,GeneratedTokens} behind a header. */
final class AzureLines implements TraceFormat.Lines {

  private static final double NANOS = 1e9;
  private @Nullable LocalDateTime begin;
  private int blocks;

  @Override
  public void line(String text, TraceBuilder trace) {
    if (text.startsWith("TIMESTAMP")) {
      return;
    }
    List<String> fields = List.of(text.split(",", -1));
    if (fields.size() < 3) {
      throw new IllegalArgumentException("not TIMESTAMP,ContextTokens,GeneratedTokens");
    }
    try {
      LocalDateTime at = LocalDateTime.parse(fields.get(0).trim().replace(' ', 'T'));
      begin = begin == null ? at : begin;
      int prompt = Math.max(1, Integer.parseInt(fields.get(1).trim()));
      int own = prompt / TraceFormat.AZURE.blockSizeTokens();
      trace
          .request(
              Math.max(0, begin.until(at, ChronoUnit.NANOS) / NANOS),
              Trace.NONE,
              Trace.NONE,
              prompt,
              Integer.parseInt(fields.get(2).trim()))
          .blocks(blocks, own);
      blocks += own;
    } catch (DateTimeParseException | NumberFormatException e) {
      throw new IllegalArgumentException("not a time and two whole numbers", e);
    }
  }
}
