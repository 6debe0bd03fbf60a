package dev.warmpath.simulator.trace;

import java.util.HashMap;
import java.util.Map;

/**
 * Writes sessions, one after the other. Sessions with equal systems begin with the same prompt; the
 * prompt of each turn is everything before it, answers included, and what is new.
 *
 * <p>Single writer.
 */
final class GrowingSessions {

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
          "a prompt of %d tokens, must be 1 to %d".formatted(promptTokens, LineFields.MOST_TOKENS));
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
