package dev.warmpath.lab.index;

import dev.warmpath.simulator.trace.Trace;
import dev.warmpath.simulator.trace.TraceBuilder;
import java.util.Arrays;

/**
 * A trace of prompts that grow by fresh blocks.
 *
 * <p>Single writer.
 */
final class PromptTrace {

  private static final int BLOCK_TOKENS = 128;

  private final TraceBuilder trace = new TraceBuilder("prompts", BLOCK_TOKENS);
  private int next;

  /** {@code prompt} with {@code blocks} fresh blocks behind it. */
  int[] grow(int[] prompt, int blocks) {
    int[] grown = Arrays.copyOf(prompt, prompt.length + blocks);
    for (int i = prompt.length; i < grown.length; i++) {
      grown[i] = next++;
    }
    return grown;
  }

  /** Adds a request that comes at {@code seconds}. */
  void request(double seconds, int[] prompt) {
    trace.request(seconds, Trace.NONE, Trace.NONE, prompt.length * BLOCK_TOKENS, 1);
    for (int number : prompt) {
      trace.blocks(number, 1);
    }
  }

  Trace build() {
    return trace.build();
  }

  /** A trace of larger blocks, each parted in blocks of the size used here. */
  static Trace parted(Trace trace) {
    int parts = trace.blockSizeTokens() / BLOCK_TOKENS;
    TraceBuilder parted = new TraceBuilder(trace.name(), BLOCK_TOKENS);
    for (int i = 0; i < trace.requests(); i++) {
      if (trace.blocks(i) > 0) {
        parted.request(trace.seconds(i), Trace.NONE, Trace.NONE, trace.promptTokens(i), 1);
      }
      for (int number : trace.blockNumbers(i)) {
        parted.blocks(number * parts, parts);
      }
    }
    return parted.build();
  }
}
