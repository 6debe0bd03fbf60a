package dev.warmpath.simulator.bench.ingest;

import dev.warmpath.simulator.live.event.BlockHash;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * A prompt that grows: its tokens, and the blocks that are its own.
 *
 * <p>Confined to its thread.
 */
final class Chat {

  private static final int VOCABULARY = 151_936;

  private final SplittableRandom random;
  private final @Nullable BlockHash parent;
  private final List<BlockHash> hashes = new ArrayList<>();
  private int[] tokens;
  private int tokenCount;

  /** A chat at the beginning of a prompt. */
  Chat(SplittableRandom random) {
    this.random = random;
    parent = null;
    tokens = new int[1024];
  }

  /** A chat behind what another one says now. */
  Chat(SplittableRandom random, Chat before) {
    this.random = random;
    parent = before.last();
    tokens = before.tokens.clone();
    tokenCount = before.tokenCount;
  }

  /** The last block, or null if there is none. */
  @Nullable BlockHash last() {
    return hashes.isEmpty() ? parent : hashes.get(hashes.size() - 1);
  }

  /** Says as many more blocks and returns their tokens. */
  int[] grow(int blocks, int blockTokens) {
    for (int i = 0; i < blocks; i++) {
      byte[] hash = ByteBuffer.allocate(Long.BYTES).putLong(random.nextLong()).array();
      hashes.add(new BlockHash(hash));
    }
    int from = tokenCount;
    tokenCount += blocks * blockTokens;
    if (tokenCount > tokens.length) {
      tokens = Arrays.copyOf(tokens, 2 * tokenCount);
    }
    for (int i = from; i < tokenCount; i++) {
      double u = random.nextDouble();
      tokens[i] = (int) (VOCABULARY * u * u); // small ids are the frequent ones
    }
    return Arrays.copyOfRange(tokens, from, tokenCount);
  }

  /** The engine hashes of the last blocks. */
  List<BlockHash> lastHashes(int blocks) {
    return hashes.subList(hashes.size() - blocks, hashes.size());
  }

  /** Loses its last block. */
  BlockHash shrink() {
    return hashes.remove(hashes.size() - 1);
  }

  /** Whether it has no blocks of its own. */
  boolean isGone() {
    return hashes.isEmpty();
  }

  /** All that it said, and one token more. */
  int[] next() {
    return Arrays.copyOf(tokens, tokenCount + 1);
  }
}
