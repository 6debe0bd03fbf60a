package dev.warmpath.eventingest.apply;

import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.ImageForm;
import dev.warmpath.kvindex.block.ImageForm.Algorithm;
import dev.warmpath.kvindex.snapshot.SnapshotInput;
import dev.warmpath.kvindex.snapshot.SnapshotOutput;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What an engine's events have said of how it keeps its blocks: what {@link EventApplier} knows
 * beside the index.
 *
 * @param mainGroup the group that gave the space its block size; 0 while there is none
 * @param space null until a block could be named
 * @param anyComputed whether names that were computed may be among what is suspended
 * @param chunkBlocks how many blocks its offload tiers give back together; {@link #NO_CHUNKS} if
 *     they have described none, 0 if that differs
 * @param imageForm how it names images; null if that was not found out
 */
public record LearnedCache(
    Groups groups,
    int mainGroup,
    @Nullable ChainSpace space,
    boolean anyComputed,
    int chunkBlocks,
    @Nullable ImageForm imageForm) {

  /** Offload tiers have described no chunk. */
  public static final int NO_CHUNKS = -1;

  public LearnedCache {
    if (chunkBlocks < NO_CHUNKS) {
      throw new IllegalArgumentException("chunkBlocks=" + chunkBlocks);
    }
  }

  /**
   * The KV-cache groups that it has told of.
   *
   * @param described those that a store has described
   * @param highest the highest index heard of, −1 for none
   * @param windowTokens the first attention window heard of, 0 for none
   */
  public record Groups(List<CacheGroup> described, int highest, int windowTokens) {

    public Groups {
      described = List.copyOf(described);
      int last = described.stream().mapToInt(CacheGroup::index).max().orElse(-1);
      if (last > highest
          || last >= GroupTable.MAX_GROUPS
          || highest > GroupTable.MAX_GROUPS
          || windowTokens < 0) {
        throw new IllegalArgumentException(
            "described=%s highest=%d windowTokens=%d".formatted(described, highest, windowTokens));
      }
    }
  }

  /** Writes it to a snapshot. */
  public void writeTo(SnapshotOutput out) {
    CacheGroup.writeTo(out, groups.described);
    out.int32(groups.highest);
    out.int32(mainGroup);
    out.flag(space != null);
    if (space != null) {
      out.text(space.model());
      out.int32(space.blockSizeTokens());
      out.int32(space.lookaheadTokens());
    }
    out.flag(anyComputed);
    out.int32(groups.windowTokens);
    out.int32(chunkBlocks);
    out.flag(imageForm != null);
    if (imageForm != null) {
      out.flag(imageForm.framed());
      out.constant(imageForm.algorithm());
      out.text(imageForm.model());
    }
  }

  /**
   * Reads what was written.
   *
   * @throws IllegalArgumentException if that cannot be
   */
  public static LearnedCache readFrom(SnapshotInput in) throws IOException {
    List<CacheGroup> described = CacheGroup.readFrom(in);
    int highest = in.int32("highestGroup", -1, Integer.MAX_VALUE);
    int mainGroup = in.int32("mainGroup", Integer.MIN_VALUE, Integer.MAX_VALUE);
    ChainSpace space = in.flag("space") ? readSpace(in) : null;
    boolean anyComputed = in.flag("computed");
    int windowTokens = in.int32("window", 0, Integer.MAX_VALUE);
    int chunkBlocks = in.int32("chunkBlocks", NO_CHUNKS, Integer.MAX_VALUE);
    ImageForm imageForm = in.isNewest() && in.flag("images") ? readForm(in) : null;
    return new LearnedCache(
        new Groups(described, highest, windowTokens),
        mainGroup,
        space,
        anyComputed,
        chunkBlocks,
        imageForm);
  }

  private static ImageForm readForm(SnapshotInput in) throws IOException {
    return new ImageForm(
        in.flag("framed"), in.constant("algorithm", Algorithm.values()), in.text("imageModel"));
  }

  private static ChainSpace readSpace(SnapshotInput in) throws IOException {
    return new ChainSpace(
        in.text("model"),
        in.int32("blockSizeTokens", 1, Integer.MAX_VALUE),
        in.int32("lookaheadTokens", 0, Integer.MAX_VALUE));
  }
}
