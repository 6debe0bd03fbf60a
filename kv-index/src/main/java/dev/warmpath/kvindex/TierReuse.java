package dev.warmpath.kvindex;

import dev.warmpath.kvindex.block.BlockChain;
import org.jspecify.annotations.Nullable;

/**
 * What one engine reuses of a prompt, tier by tier: first what the GPU allows, then what slower
 * tiers allow behind it; and what CPU memory would allow by itself.
 *
 * <p>Single writer.
 */
public final class TierReuse {

  private static final StorageTier[] SLOWER_TIERS = {StorageTier.CPU, StorageTier.DISK};

  /** Where the rows of an engine's shelves are. */
  public interface ShelfRows {

    /** The row of the shelf for (tier, group), or −1 when it holds nothing of the prompt. */
    int row(StorageTier tier, int group);
  }

  private final HeldRows held;
  private final ShelfRows shelves;
  private @Nullable CacheLayout lastLayout;
  private int lastChainBlockTokens;
  private @Nullable ReuseRule lastRule;
  private int[] rows = {};

  /**
   * @param held the rows of the shelves; more are added to it
   */
  public TierReuse(HeldRows held, ShelfRows shelves) {
    this.held = held;
    this.shelves = shelves;
  }

  /** Sets the depths of the engine in {@code slot}. */
  public void fill(int slot, CacheLayout layout, BlockChain prompt, PrefixMatches matches) {
    ReuseRule rule = rule(layout, prompt.space().blockSizeTokens());
    addRows(layout.groups().size());
    mark(layout, StorageTier.GPU, Integer.MAX_VALUE);
    int reused = rule.tokens(prompt, held, rows);
    matches.set(slot, StorageTier.GPU, reused);
    if (!hasSlower(layout)) {
      return;
    }
    addRows(layout.groups().size());
    mark(layout, StorageTier.GPU, rule.chainBlocks(reused));
    for (StorageTier tier : SLOWER_TIERS) {
      mark(layout, tier, Integer.MAX_VALUE);
      reused = Math.max(reused, rule.tokens(prompt, held, rows));
      matches.set(slot, tier, reused);
    }
    addRows(layout.groups().size());
    mark(layout, StorageTier.CPU, Integer.MAX_VALUE);
    matches.setHost(slot, rule.tokens(prompt, held, rows));
  }

  /** Most engines of a fleet have the same layout. */
  private ReuseRule rule(CacheLayout layout, int chainBlockTokens) {
    ReuseRule rule = lastRule;
    if (rule == null || !layout.equals(lastLayout) || chainBlockTokens != lastChainBlockTokens) {
      rule = new ReuseRule(layout, chainBlockTokens);
      lastRule = rule;
      lastLayout = layout;
      lastChainBlockTokens = chainBlockTokens;
    }
    return rule;
  }

  private void addRows(int groups) {
    if (rows.length != groups) {
      rows = new int[groups];
    }
    for (int i = 0; i < groups; i++) {
      rows[i] = held.add();
    }
  }

  private boolean hasSlower(CacheLayout layout) {
    for (StorageTier tier : SLOWER_TIERS) {
      for (int i = 0; i < rows.length; i++) {
        if (shelves.row(tier, layout.groups().get(i).index()) >= 0) {
          return true;
        }
      }
    }
    return false;
  }

  private void mark(CacheLayout layout, StorageTier tier, int end) {
    for (int i = 0; i < rows.length; i++) {
      int row = shelves.row(tier, layout.groups().get(i).index());
      if (row >= 0) {
        held.markAll(rows[i], row, end);
      }
    }
  }
}
