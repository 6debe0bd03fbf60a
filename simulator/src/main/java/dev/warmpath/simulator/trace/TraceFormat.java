package dev.warmpath.simulator.trace;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
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
}
