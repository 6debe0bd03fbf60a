package dev.warmpath.simulator.bench.recovery;

import dev.warmpath.simulator.live.event.BlockHash;
import java.nio.ByteBuffer;

/**
 * A prompt whose tokens and hashes follow from its number, so that nobody has to keep them; its
 * first blocks are a system prompt's.
 *
 * <p>Immutable.
 */
record Conversation(long number) {

  static final int BLOCK_TOKENS = 16;
  static final int SYSTEM_BLOCKS = 16;
  private static final int SYSTEM_PROMPTS = 64;
  private static final int LEAST_BLOCKS = 32;
  private static final int MORE_BLOCKS = 480;
  private static final int VOCABULARY = 2_900; // of the embedded tokenizer

  /** Blocks that it has when it is complete, those of the system prompt included. */
  int blocks() {
    return LEAST_BLOCKS + (int) Long.remainderUnsigned(mix(number), MORE_BLOCKS);
  }

  int systemPrompt() {
    return (int) Long.remainderUnsigned(mix(~number), SYSTEM_PROMPTS);
  }

  BlockHash hash(int block) {
    return new BlockHash(ByteBuffer.allocate(Long.BYTES).putLong(seed(block)).array());
  }

  /** The tokens of the blocks from {@code begin} to before {@code end}. */
  int[] tokens(int begin, int end) {
    int[] tokens = new int[(end - begin) * BLOCK_TOKENS];
    for (int block = begin; block < end; block++) {
      long state = seed(block);
      for (int i = 0; i < BLOCK_TOKENS; i++) {
        state += 0x9E3779B97F4A7C15L;
        tokens[(block - begin) * BLOCK_TOKENS + i] =
            (int) Long.remainderUnsigned(mix(state), VOCABULARY);
      }
    }
    return tokens;
  }

  private long seed(int block) {
    long owner = block < SYSTEM_BLOCKS ? -1 - systemPrompt() : number;
    return mix(mix(owner) + block);
  }

  private static long mix(long x) {
    long y = (x ^ (x >>> 33)) * 0xFF51AFD7ED558CCDL;
    y = (y ^ (y >>> 33)) * 0xC4CEB9FE1A85EC53L;
    return y ^ (y >>> 33);
  }
}
