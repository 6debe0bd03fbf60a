package dev.warmpath.simulator.trace;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.LocalDateTime;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The formats of recorded workloads. A new one is a reader of its lines. */
public enum TraceFormat {
  /**
   * Mooncake's traces: {@code timestamp} in milliseconds, {@code input_length}, {@code
   * output_length} in tokens, {@code hash_ids} of blocks of 512 tokens.
   */
  MOONCAKE(512),
  /** Bailian's traces of Qwen: the same fields, seconds, blocks of 16 tokens. */
  BAILIAN(16),
  /** Agents' sessions as differences: each request names what it keeps of the one before it. */
  DELTA(64),
  /** Azure's arrivals: {@code TIMESTAMP,ContextTokens,GeneratedTokens}; nothing is shared. */
  AZURE(64),
  /** Sessions with think times: a line each, see {@link SessionLines}. */
  SESSION(GrowingSessions.BLOCK_TOKENS),
  /** Chats made by chance: a batch a line, see {@link GenerateLines}. */
  GENERATE(GrowingSessions.BLOCK_TOKENS),
  /** Recorded event streams with their requests, see {@link CaptureTrace}. */
  CAPTURE(0),
  /** The log of a router's decisions, see {@link DecisionLines}. */
  DECISIONS(DecisionLines.BLOCK_TOKENS);

  /** Reads the lines of one file, in order. */
  interface Lines {

    /**
     * Takes a line.
     *
     * @throws IllegalArgumentException saying what is wrong with it
     */
    void line(String text, TraceBuilder trace);

    /** There are no more lines. */
    default void end(TraceBuilder trace) {}
  }

  private final int blockSizeTokens;

  TraceFormat(int blockSizeTokens) {
    this.blockSizeTokens = blockSizeTokens;
  }

  /** The name that users know it by. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The format that is called so. */
  public static Optional<TraceFormat> named(String label) {
    return Arrays.stream(values()).filter(format -> format.label().equals(label)).findFirst();
  }

  /** The names of all. */
  public static List<String> labels() {
    return Arrays.stream(values()).map(TraceFormat::label).toList();
  }

  int blockSizeTokens() {
    return blockSizeTokens;
  }

  /** A reader of its lines; null for captures, which are no text. */
  @Nullable Lines reader() {
    return switch (this) {
      case CAPTURE -> null;
      case MOONCAKE -> new HashIdLines(blockSizeTokens, 1e-3);
      case BAILIAN -> new HashIdLines(blockSizeTokens, 1);
      case DELTA -> new DeltaLines();
      case AZURE -> new AzureLines();
      case SESSION -> new SessionLines();
      case DECISIONS -> new DecisionLines();
      case GENERATE -> new GenerateLines();
    };
  }

  /**
   * A session a line: {@code {"start": seconds, "system": NAME, "system_tokens": n, "turns":
   * [{"think": seconds, "in": new tokens, "out": tokens}, …]}}; the first turn needs no {@code
   * think}. {@link GrowingSessions} says what they share.
   */
  private static final class SessionLines implements TraceFormat.Lines {

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

  /**
   * Lines of {@code {"timestamp", "input_length", "output_length", "hash_ids"}}; an id names a
   * block and all before it. Mooncake's and Bailian's traces differ in units.
   */
  private static final class HashIdLines implements TraceFormat.Lines {

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

  /**
   * Lines of {@code {"s", "l", "k", "t", "think", "in", "out", "keep", "new"}} behind a header:
   * turn {@code k} of a lane of a session keeps the first blocks of the turn before it and goes on
   * with the runs {@code [first, count]} of {@code new}. It comes its think time after that turn is
   * answered, a minute at most; the first turn of a lane comes at its own time.
   */
  private static final class DeltaLines implements TraceFormat.Lines {

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
          seconds,
          before,
          session,
          prompt,
          LineFields.whole(line, "out", 0, LineFields.MOST_TOKENS));
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

  /**
   * Lines of {@code TIMESTAMP,ContextTokens,GeneratedTokens} behind a header. Prompts share
   * nothing: the trace does not tell what they contain.
   */
  private static final class AzureLines implements TraceFormat.Lines {

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
}
