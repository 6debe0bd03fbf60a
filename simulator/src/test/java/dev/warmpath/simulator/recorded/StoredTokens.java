package dev.warmpath.simulator.recorded;

import dev.warmpath.eventingest.wire.EventRow;
import dev.warmpath.eventingest.wire.Naming;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

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

  void add(EventRow stored, long order) {
    if (stored.naming() != Naming.DENSE
        || stored.blockSizeTokens() != blockSizeTokens
        || stored.lookaheadTokens() > 0) {
      return;
    }
    long above = stored.atRoot() ? ROOT : stored.parent();
    int[] tokenIds = stored.tokenIds();
    long[] hashes = stored.engineHashes();
    for (int i = 0; i < hashes.length; i++) {
      int from = i * blockSizeTokens;
      int[] ids = Arrays.copyOfRange(tokenIds, from, from + blockSizeTokens);
      Block block = new Block(hashes[i], ids, order);
      children.computeIfAbsent(above, hash -> new ArrayList<>()).add(block);
      above = block.hash;
    }
  }

  /**
   * The answer to a request, as far as it fills blocks: those announced for it, else those
   * announced before. Tokens that were never announced are {@code unknown}.
   */
  int[] answer(RecordedRequest request, int answerTokens, int unknown) {
    int[] prompt = request.prompt();
    int[] all = Arrays.copyOf(prompt, prompt.length + answerTokens);
    Arrays.fill(all, prompt.length, all.length, unknown);
    List<Block> path = List.of(new Block(ROOT, new int[0], -1));
    for (int from = 0; from + blockSizeTokens <= all.length && !path.isEmpty(); ) {
      int known = Math.max(0, Math.min(blockSizeTokens, prompt.length - from));
      path = matching(path, all, from, known);
      if (known < blockSizeTokens) {
        path = nearest(path, request).map(List::of).orElse(List.of());
        for (Block block : path) {
          System.arraycopy(block.tokenIds, 0, all, from, blockSizeTokens);
        }
      }
      from += blockSizeTokens;
    }
    return Arrays.copyOfRange(all, prompt.length, all.length);
  }

  private List<Block> matching(List<Block> parents, int[] ids, int from, int known) {
    return parents.stream()
        .map(Block::hash)
        .distinct()
        .flatMap(parent -> children.getOrDefault(parent, List.of()).stream())
        .filter(block -> Arrays.equals(block.tokenIds, 0, known, ids, from, from + known))
        .toList();
  }

  /** The first that was announced for the request, or the last one before it. */
  private static Optional<Block> nearest(List<Block> found, RecordedRequest request) {
    Block before = null;
    for (Block block : found) {
      if (block.order > request.order() && block.order <= request.settled()) {
        return Optional.of(block);
      }
      before = block.order <= request.order() ? block : before;
    }
    return Optional.ofNullable(before);
  }
}
