package dev.warmpath.lab.ingest;

import dev.warmpath.lab.index.HashNames;
import java.util.Arrays;

/**
 * A prompt whose blocks follow from its number, so that nobody has to keep them; its first blocks
 * are a system prompt's.
 */
record Conversation(long number) {

  private static final int SYSTEM_BLOCKS = 16;
  private static final int SYSTEM_PROMPTS = 64;
  private static final int LEAST_BLOCKS = 32;
  private static final int MORE_BLOCKS = 480;

  /** The names of its blocks. */
  long[] names() {
    long draw = HashNames.mixed(number);
    long systemPrompt = Long.remainderUnsigned(draw, SYSTEM_PROMPTS);
    long system = HashNames.mixed(-1 - systemPrompt);
    long own = HashNames.mixed(draw);
    long[] names = new long[LEAST_BLOCKS + (int) Long.remainderUnsigned(draw >>> 32, MORE_BLOCKS)];
    Arrays.setAll(names, block -> (block < SYSTEM_BLOCKS ? system : own) + block);
    return names;
  }
}
