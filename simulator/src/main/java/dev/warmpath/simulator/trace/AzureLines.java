package dev.warmpath.simulator.trace;

import java.time.LocalDateTime;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/**
 * Lines of {@code TIMESTAMP,ContextTokens,GeneratedTokens} behind a header. Prompts share nothing:
 * the trace does not tell what they contain.
 */
final class AzureLines implements TraceFormat.Lines {

  private static final double NANOS = 1e9;
  private @Nullable LocalDateTime begin;
  private int blocks;

  @Override
  public void line(String text, TraceBuilder trace) {
    if (text.startsWith("TIMESTAMP")) {
      return;
    }
    String[] fields = text.split(",", -1);
    if (fields.length < 3) {
      throw new IllegalArgumentException("no TIMESTAMP,ContextTokens,GeneratedTokens");
    }
    LocalDateTime at = time(fields[0]);
    begin = begin == null ? at : begin;
    int prompt = Math.max(1, tokens("ContextTokens", fields[1]));
    int own = prompt / TraceFormat.AZURE.blockSizeTokens();
    trace
        .request(
            Math.max(0, begin.until(at, ChronoUnit.NANOS) / NANOS),
            Trace.NONE,
            Trace.NONE,
            prompt,
            tokens("GeneratedTokens", fields[2]))
        .blocks(blocks, own);
    blocks += own; // the builder refuses negative ones
  }

  private static LocalDateTime time(String text) {
    try {
      return LocalDateTime.parse(text.trim().replace(' ', 'T'));
    } catch (DateTimeParseException e) {
      throw new IllegalArgumentException("'TIMESTAMP' must be like 2023-11-16 18:15:46.68", e);
    }
  }

  private static int tokens(String field, String text) {
    try {
      int tokens = Integer.parseInt(text.trim());
      if (tokens >= 0 && tokens <= LineFields.MOST_TOKENS) {
        return tokens;
      }
    } catch (NumberFormatException e) {
      // as any other that does not fit
    }
    throw new IllegalArgumentException(
        "'%s' must be a whole number from 0 to %d".formatted(field, LineFields.MOST_TOKENS));
  }
}
