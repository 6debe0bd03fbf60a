package dev.warmpath.kvindex.reuse;

import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.CacheLayout;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.block.BlockChain;
import java.util.List;

/**
 * What one engine reuses of a prompt, tier by tier: first what the GPU allows, then what slower
 * tiers allow behind it.
 *
 * <p>Single writer.
 */
public final class TierReuse {

  private static final List<StorageTier> LOCAL_TIERS =
      List.of(StorageTier.values()).subList(0, PrefixMatches.LOCAL_TIERS);

  /** Where the rows of an engine's shelves are. */
  public interface ShelfRows {

    /** The row of the shelf for (tier, group), or −1 when it holds nothing of the prompt. */
    int row(StorageTier tier, int group);
  }

  private final HeldRows held;
  private final ShelfRows shelves;

  /**
   * @param held the rows of the shelves; more are added to it
   */
  public TierReuse(HeldRows held, ShelfRows shelves) {
    this.held = held;
    this.shelves = shelves;
  }

  /** Sets the depths of the engine in {@code slot}. */
  public void fill(int slot, CacheLayout layout, BlockChain prompt, PrefixMatches matches) {
    ReuseRule rule = new ReuseRule(layout, prompt);
    int[] rows = rows(layout, StorageTier.GPU, Integer.MAX_VALUE);
    int reused = rule.tokens(held, rows);
    matches.set(slot, StorageTier.GPU, reused);
    rows = rows(layout, StorageTier.GPU, rule.chainBlocks(reused));
    for (StorageTier tier : LOCAL_TIERS.subList(1, LOCAL_TIERS.size())) {
      mark(rows, layout, tier, Integer.MAX_VALUE);
      reused = Math.max(reused, rule.tokens(held, rows));
      matches.set(slot, tier, reused);
    }
  }

  private int[] rows(CacheLayout layout, StorageTier tier, int end) {
    int[] rows = new int[layout.groups().size()];
    for (int i = 0; i < rows.length; i++) {
      rows[i] = held.add();
    }
    mark(rows, layout, tier, end);
    return rows;
  }

  private void mark(int[] rows, CacheLayout layout, StorageTier tier, int end) {
    List<CacheGroup> groups = layout.groups();
    for (int i = 0; i < rows.length; i++) {
      int row = shelves.row(tier, groups.get(i).index());
      if (row >= 0) {
        held.markAll(rows[i], row, end);
      }
    }
  }
}
