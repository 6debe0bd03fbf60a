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
import java.util.SplittableRandom;
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
  /** Recorded event streams with their requests, see {@link TraceFile.CaptureTrace}. */
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

  /**
   * Chats made by chance, a batch a line: {@code {"seed", "seconds", "sessions", "tenants", "zipf",
   * "system", "turns", "in", "out", "think", "burst", "inSpread", "outSpread"}}, all optional.
   * Equal lines make equal chats.
   *
   * <p>Sessions begin at random times within {@code seconds}, {@code burst} of one tenant at each.
   * Tenant k has a share of them in proportion to k^−zipf and a system prompt of its own. A session
   * has {@code turns} turns on the average (geometric), its users think {@code think} seconds on
   * the average (exponential). The lengths of system prompts, questions and answers are log-normal
   * around their medians {@code system}, {@code in} and {@code out}: one in a hundred questions is
   * ten times as long.
   */
  static final class GenerateLines implements TraceFormat.Lines {

    private static final double SYSTEM_SPREAD = 0.7;
    private static final double LENGTH_SPREAD = 1;
    private static final int LONGEST = 100_000;
    private static final int MOST = 1_000_000;

    private final GrowingSessions sessions = new GrowingSessions();
    private int batches;

    @Override
    public void line(String text, TraceBuilder trace) {
      JsonNode line = LineFields.object(text);
      Draws draws = new Draws(new SplittableRandom(LineFields.whole(line, "seed", 0, MOST, 1)));
      int count = LineFields.whole(line, "sessions", 1, MOST, 500);
      int burst = LineFields.whole(line, "burst", 1, MOST, 1);
      double gap = LineFields.seconds(line, "seconds", 600) * burst / count;
      double[] shares =
          shares(
              LineFields.whole(line, "tenants", 1, MOST, 20), LineFields.seconds(line, "zipf", 1));
      int[] systems = new int[shares.length];
      int system = LineFields.whole(line, "system", 0, LONGEST, 1500);
      Arrays.setAll(systems, tenant -> draws.length(system, SYSTEM_SPREAD));
      double turns = LineFields.whole(line, "turns", 1, MOST, 4);
      int in = LineFields.whole(line, "in", 1, LONGEST, 300);
      int out = LineFields.whole(line, "out", 1, LONGEST, 200);
      double inSpread = LineFields.seconds(line, "inSpread", LENGTH_SPREAD);
      double outSpread = LineFields.seconds(line, "outSpread", LENGTH_SPREAD);
      double think = LineFields.seconds(line, "think", 20);
      String batch = batches++ + "/";
      double start = 0;
      int tenant = 0;
      for (int i = 0; i < count; i++) {
        if (i % burst == 0) {
          start += draws.exponential(gap);
          tenant = draws.among(shares);
        }
        sessions.begin(batch + tenant, systems[tenant]);
        double seconds = start;
        do {
          sessions.turn(trace, seconds, draws.length(in, inSpread), draws.length(out, outSpread));
          seconds = draws.exponential(think);
        } while (!draws.isTrue(1 / turns));
      }
    }

    /** The shares of tenants added up, the last is 1. */
    private static double[] shares(int tenants, double zipf) {
      double[] sums = new double[tenants];
      double sum = 0;
      for (int i = 0; i < tenants; i++) {
        sum += StrictMath.pow(i + 1.0, -zipf);
        sums[i] = sum;
      }
      double all = sum;
      Arrays.setAll(sums, i -> sums[i] / all);
      return sums;
    }

    /** Random numbers that are the same on every machine. */
    private record Draws(SplittableRandom random) {

      boolean isTrue(double chance) {
        return random.nextDouble() < chance;
      }

      double exponential(double mean) {
        return -mean * StrictMath.log(1 - random.nextDouble());
      }

      /** Log-normal, 0 for a median of 0 and else at least 1. */
      int length(int median, double spread) {
        double radius = StrictMath.sqrt(2 * exponential(1));
        double normal = radius * StrictMath.cos(2 * Math.PI * random.nextDouble());
        long length = Math.round(median * StrictMath.exp(spread * normal));
        return (int) Math.min(LONGEST, Math.max(Math.min(1, median), length));
      }

      int among(double[] sums) {
        int found = Arrays.binarySearch(sums, random.nextDouble());
        return Math.min(sums.length - 1, found < 0 ? -found - 1 : found + 1);
      }
    }
  }

  /**
   * Writes sessions, one after the other. Sessions with equal systems begin with the same prompt;
   * the prompt of each turn is everything before it, answers included, and what is new.
   *
   * <p>Single writer.
   */
  static final class GrowingSessions {

    static final int BLOCK_TOKENS = 16;

    private final Map<String, Integer> firstBlocks = new HashMap<>();
    private int nextBlock;
    private int session = -1;
    private int systemFirst;
    private int systemTokens;
    private int promptTokens;
    private int ownBlocks;
    private int last;

    /** The turns that follow are of a new session. */
    void begin(String system, int tokens) {
      systemFirst =
          firstBlocks.computeIfAbsent(system + "/" + tokens, key -> take(tokens / BLOCK_TOKENS));
      systemTokens = tokens;
      session++;
      promptTokens = tokens;
      ownBlocks = 0;
      last = Trace.NONE;
    }

    /**
     * @param seconds when it arrives: since the trace began, or since the last turn was answered
     * @throws IllegalArgumentException if the prompt is empty or too long
     */
    void turn(TraceBuilder trace, double seconds, int newTokens, int answerTokens) {
      promptTokens += newTokens;
      if (promptTokens < 1 || promptTokens > LineFields.MOST_TOKENS) {
        throw new IllegalArgumentException(
            "a prompt of %d tokens, must be 1 to %d"
                .formatted(promptTokens, LineFields.MOST_TOKENS));
      }
      int number = trace.requests();
      int systemBlocks = systemTokens / BLOCK_TOKENS;
      trace.request(seconds, last, session, promptTokens, answerTokens);
      if (last == Trace.NONE) {
        trace.blocks(systemFirst, systemBlocks);
      } else {
        trace.blocksOf(last, systemBlocks + ownBlocks);
      }
      int grown = promptTokens / BLOCK_TOKENS - systemBlocks - ownBlocks;
      trace.blocks(take(grown), grown);
      ownBlocks += grown;
      promptTokens += Math.max(1, answerTokens);
      last = number;
    }

    private int take(int count) {
      int first = nextBlock;
      nextBlock += count; // the builder refuses a negative one
      return first;
    }
  }
}
