package dev.warmpath.simulator.recorded;

import dev.warmpath.eventingest.wire.KvEvent.BlockStored;
import dev.warmpath.eventingest.wire.Naming;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The tokens of all blocks that a recorded engine announced: from them one learns what it answered,
 * which no other record tells. Single writer.
 */
final class StoredTokens {

  private static final long ROOT = 0;

  private final Map<Long, List<Block>> children = new HashMap<>();
  private final int blockSizeTokens;

  @SuppressWarnings("ArrayRecordComponent") // read, never compared
  private record Block(long hash, int[] tokenIds, long order) {}

  StoredTokens(int blockSizeTokens) {
    this.blockSizeTokens = blockSizeTokens;
  }

  void add(BlockStored stored, long order) {
    if (stored.naming() != Naming.DENSE
        || stored.tokens().blockSizeTokens() != blockSizeTokens
        || stored.tokens().lookaheadTokens() > 0) {
      return;
    }
    Long parent = stored.parentBlockHash();
    long above = parent == null ? ROOT : parent;
    for (int i = 0; i < stored.blockHashes().length; i++) {
      int from = i * blockSizeTokens;
      int[] ids = Arrays.copyOfRange(stored.tokens().ids(), from, from + blockSizeTokens);
      Block block = new Block(stored.blockHashes()[i], ids, order);
      children.computeIfAbsent(above, hash -> new ArrayList<>()).add(block);
      above = block.hash;
    }
  }

  /**
   * The answer to a prompt, as far as it fills blocks: those announced first behind record {@code
   * order}, else the last ones before. Tokens that were never announced are {@code unknown}.
   */
  int[] answer(int[] prompt, int answerTokens, long order, int unknown) {
    int[] all = Arrays.copyOf(prompt, prompt.length + answerTokens);
    Arrays.fill(all, prompt.length, all.length, unknown);
    List<Long> parents = List.of(ROOT);
    for (int from = 0; from + blockSizeTokens <= all.length && !parents.isEmpty(); ) {
      int known = Math.max(0, Math.min(blockSizeTokens, prompt.length - from));
      List<Block> found = matching(parents, all, from, known);
      if (known < blockSizeTokens && !found.isEmpty()) {
        Block block = nearest(found, order);
        System.arraycopy(block.tokenIds, 0, all, from, blockSizeTokens);
        found = List.of(block);
      }
      parents = found.stream().map(Block::hash).distinct().toList();
      from += blockSizeTokens;
    }
    return Arrays.copyOfRange(all, prompt.length, all.length);
  }

  private List<Block> matching(List<Long> parents, int[] ids, int from, int known) {
    return parents.stream()
        .flatMap(parent -> children.getOrDefault(parent, List.of()).stream())
        .filter(block -> Arrays.equals(block.tokenIds, 0, known, ids, from, from + known))
        .toList();
  }

  private static Block nearest(List<Block> found, long order) {
    Block before = found.get(0);
    for (Block block : found) {
      if (block.order > order) {
        return block;
      }
      before = block;
    }
    return before;
  }
}
