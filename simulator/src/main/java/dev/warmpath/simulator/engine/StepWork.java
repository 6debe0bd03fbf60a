package dev.warmpath.simulator.engine;

/**
 * What one step computes, as far as its duration depends on it.
 *
 * <p>Single writer.
 */
public final class StepWork {

  private int prefillTokens;
  private double attentionPairs;
  private int decodes;
  private long decodeContextTokens;
  private double cacheUsage;

  /** A step that computes {@code tokens} of a prompt, with {@code contextTokens} before them. */
  public static StepWork ofPrompt(int tokens, int contextTokens) {
    StepWork work = new StepWork();
    work.prefill(tokens, contextTokens);
    return work;
  }

  /** A step in which sequences with so many tokens before them decode one token each. */
  public static StepWork ofAnswers(int sequences, int contextTokens) {
    StepWork work = new StepWork();
    work.decode(sequences, (long) sequences * contextTokens);
    return work;
  }

  /** Prompt tokens computed, of all sequences. */
  public int prefillTokens() {
    return prefillTokens;
  }

  /** Pairs of a prompt token computed and a context token that it attends to. */
  public double attentionPairs() {
    return attentionPairs;
  }

  /** Sequences that decode. */
  public int decodes() {
    return decodes;
  }

  /** Tokens in front of those decoded, of all sequences that decode. */
  public long decodeContextTokens() {
    return decodeContextTokens;
  }

  /** Share of blocks that requests hold, 0 to 1. */
  public double cacheUsage() {
    return cacheUsage;
  }

  void begin(double usage) {
    prefillTokens = 0;
    attentionPairs = 0;
    decodes = 0;
    decodeContextTokens = 0;
    cacheUsage = usage;
  }

  /** Adds {@code tokens} prompt tokens behind {@code contextTokens} others. */
  void prefill(int tokens, int contextTokens) {
    prefillTokens += tokens;
    attentionPairs += tokens * (contextTokens + tokens / 2.0);
  }

  /** Adds sequences that decode one token each, {@code contextTokens} in front of all of them. */
  void decode(int sequences, long contextTokens) {
    decodes += sequences;
    decodeContextTokens += contextTokens;
  }
}
