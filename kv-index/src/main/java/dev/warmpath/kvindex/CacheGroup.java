package dev.warmpath.kvindex;

import dev.warmpath.kvindex.snapshot.SnapshotInput;
import dev.warmpath.kvindex.snapshot.SnapshotOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * One KV-cache group of an engine: layers that keep their blocks by the same rule. An engine with a
 * hybrid model has several, and reuses a prefix only as far as all of them allow.
 *
 * @param index the engine's {@code group_idx}; 0 for engines that do not name groups
 * @param kind the rule
 * @param blockSizeTokens tokens a block of this group
 * @param slidingWindowTokens the window, for {@link Kind#SLIDING_WINDOW} only, else 0
 */
public record CacheGroup(int index, Kind kind, int blockSizeTokens, int slidingWindowTokens) {

  /** How much of a prefix a group needs to have kept for the prefix to be reusable. */
  public enum Kind {
    /** Every block from the first one on. */
    FULL_ATTENTION,
    /** The last {@code ceil((window − 1) / B)} blocks, or all blocks of a shorter prefix. */
    SLIDING_WINDOW,
    /** The one block that ends where the prefix ends. */
    MAMBA,
    /** Not known here: such a group never agrees, so the engine is credited with nothing. */
    UNKNOWN
  }

  public CacheGroup {
    if (index < 0) {
      throw new IllegalArgumentException("index=" + index);
    }
    if (blockSizeTokens < 1) {
      throw new IllegalArgumentException("blockSizeTokens=" + blockSizeTokens);
    }
    if ((kind == Kind.SLIDING_WINDOW) != (slidingWindowTokens > 0)) {
      throw new IllegalArgumentException(
          "kind=" + kind + " slidingWindowTokens=" + slidingWindowTokens);
    }
  }

  /** Writes groups to a snapshot. */
  public static void writeTo(SnapshotOutput out, List<CacheGroup> groups) {
    out.int32(groups.size());
    for (CacheGroup group : groups) {
      out.int32(group.index);
      out.constant(group.kind);
      out.int32(group.blockSizeTokens);
      out.int32(group.slidingWindowTokens);
    }
  }

  /** Reads what was written. */
  public static List<CacheGroup> readFrom(SnapshotInput in) throws IOException {
    List<CacheGroup> groups = new ArrayList<>();
    for (int left = in.int32("groups", 0, Integer.MAX_VALUE); left > 0; left--) {
      int index = in.int32("index", 0, Integer.MAX_VALUE);
      Kind kind = in.constant("kind", Kind.values());
      int blockSizeTokens = in.int32("blockSizeTokens", 1, Integer.MAX_VALUE);
      int slidingWindowTokens = in.int32("slidingWindowTokens", 0, Integer.MAX_VALUE);
      try {
        groups.add(new CacheGroup(index, kind, blockSizeTokens, slidingWindowTokens));
      } catch (IllegalArgumentException e) {
        throw in.damaged("group " + e.getMessage());
      }
    }
    return groups;
  }
}
