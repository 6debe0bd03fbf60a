package dev.warmpath.kvindex;

import dev.warmpath.kvindex.snapshot.SnapshotInput;
import dev.warmpath.kvindex.snapshot.SnapshotOutput;
import java.io.IOException;
import java.util.List;

/**
 * How one engine turns held blocks into a cache hit: its groups and what it holds back from every
 * prompt.
 *
 * @param groups the engine's groups, by ascending index; empty until the first event
 * @param withheldTokens tokens at the end of a prompt that are always computed: the hit is at most
 *     {@code floor((n − withheldTokens) / B) · B} tokens. 1 for vLLM, L with lookahead hashes, 2
 *     for SGLang with EAGLE
 * @param droppedBlocks matched blocks that are computed again all the same: 1 for vLLM to 0.32 with
 *     EAGLE or MTP, else 0
 */
public record CacheLayout(List<CacheGroup> groups, int withheldTokens, int droppedBlocks) {

  /** Whether the group is there and of full attention. */
  public boolean isFullAttention(int group) {
    for (CacheGroup each : groups) {
      if (each.index() == group) {
        return each.kind() == CacheGroup.Kind.FULL_ATTENTION;
      }
    }
    return false;
  }

  public CacheLayout {
    groups = List.copyOf(groups);
    for (int i = 1; i < groups.size(); i++) {
      if (groups.get(i).index() <= groups.get(i - 1).index()) {
        throw new IllegalArgumentException("groups=" + groups);
      }
    }
    if (withheldTokens < 0) {
      throw new IllegalArgumentException("withheldTokens=" + withheldTokens);
    }
    if (droppedBlocks < 0) {
      throw new IllegalArgumentException("droppedBlocks=" + droppedBlocks);
    }
  }

  /** Writes it to a snapshot. */
  public void writeTo(SnapshotOutput out) {
    out.int32(withheldTokens);
    out.int32(droppedBlocks);
    CacheGroup.writeTo(out, groups);
  }

  /** Reads what was written. */
  public static CacheLayout readFrom(SnapshotInput in) throws IOException {
    int withheldTokens = in.int32("withheldTokens", 0, Integer.MAX_VALUE);
    int droppedBlocks = in.int32("droppedBlocks", 0, Integer.MAX_VALUE);
    List<CacheGroup> groups = CacheGroup.readFrom(in);
    try {
      return new CacheLayout(groups, withheldTokens, droppedBlocks);
    } catch (IllegalArgumentException e) {
      throw in.damaged("groups are not in order");
    }
  }
}
