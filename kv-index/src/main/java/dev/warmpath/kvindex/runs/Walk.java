package dev.warmpath.kvindex.runs;

import dev.warmpath.kvindex.CacheLayout;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.reuse.HeldRows;
import dev.warmpath.kvindex.reuse.TierReuse;
import dev.warmpath.kvindex.runs.Shelves.Shelf;
import java.util.Arrays;

/**
 * The notes of one walk down the tree: which runs were seen in which version, and how deep each
 * shelf goes; reused from walk to walk.
 *
 * <p>Confined to its thread.
 */
final class Walk {

  private final HeldRows rows = new HeldRows();
  private final TierReuse tiers = new TierReuse(rows, this::row);
  private int[] seen = new int[2 * 16];
  private int seenCount;
  private int[] depths = new int[16];
  private int[] rowOfShelf = new int[16];
  private int[] met = new int[16];
  private int metCount;
  private int lastWithheld;
  private int lastLimit;
  private Fleet fleet = Fleet.EMPTY;
  private Shelf[] shelves = {};

  /** Whether all that counts is how far each shelf's blocks go without a hole. */
  boolean byDepth;

  void begin(BlockChain prompt, Fleet fleet) {
    this.fleet = fleet;
    byDepth = fleet.goesByDepth(prompt.space().blockSizeTokens());
    for (int i = 0; i < metCount; i++) {
      depths[met[i]] = 0;
      rowOfShelf[met[i]] = 0;
    }
    metCount = 0;
    seenCount = 0;
    if (depths.length < fleet.shelfBound()) {
      int length = 2 * fleet.shelfBound();
      depths = new int[length];
      rowOfShelf = new int[length];
      met = new int[length];
    }
    rows.begin(prompt.blocks());
  }

  void see(int run, int version) {
    if (2 * seenCount == seen.length) {
      seen = Arrays.copyOf(seen, 2 * seen.length);
    }
    seen[2 * seenCount] = run;
    seen[2 * seenCount + 1] = version;
    seenCount++;
  }

  /** The last run was not the one looked for. */
  void unsee() {
    seenCount--;
  }

  int seen() {
    return seenCount;
  }

  int seenRun(int index) {
    return seen[2 * index];
  }

  int seenVersion(int index) {
    return seen[2 * index + 1];
  }

  /**
   * A shelf holds these of the {@code common} blocks behind the first {@code matched}; whether it
   * holds all so far.
   */
  boolean meet(int shelf, long mask, int matched, int common) {
    byte use = fleet.use(shelf);
    if (use == Fleet.DEPTH && byDepth) {
      if (depths[shelf] != matched) {
        return false;
      }
      int more = Long.numberOfTrailingZeros(~mask);
      if (matched == 0 && more > 0) {
        met[metCount++] = shelf;
      }
      depths[shelf] = matched + more;
      return more == common;
    }
    if (use != Fleet.NOTHING) {
      if (rowOfShelf[shelf] == 0) {
        rowOfShelf[shelf] = rows.add() + 1;
        met[metCount++] = shelf;
      }
      rows.mark(rowOfShelf[shelf] - 1, matched, mask);
    }
    return false;
  }

  /** Says what the shelves met make of the prompt. */
  void fill(BlockChain prompt, PrefixMatches matches) {
    matches.begin(fleet.slots());
    lastWithheld = -1;
    for (int i = 0; i < metCount; i++) {
      int slot = fleet.slot(met[i]);
      CacheLayout layout = fleet.layout(slot);
      if (layout == null) {
        continue;
      }
      if (byDepth) {
        matches.set(slot, tokens(layout, prompt, depths[met[i]]));
      } else if (matches.tokens(slot) == 0) {
        shelves = fleet.shelves(slot);
        tiers.fill(slot, layout, prompt, matches);
      }
    }
  }

  /** What {@link dev.warmpath.kvindex.reuse.ReuseRule} says for one full-attention group. */
  private int tokens(CacheLayout layout, BlockChain prompt, int depth) {
    int blockSize = prompt.space().blockSizeTokens();
    if (layout.withheldTokens() != lastWithheld) {
      // A division is dear, and most engines withhold the same.
      lastWithheld = layout.withheldTokens();
      lastLimit = (prompt.promptTokens() - lastWithheld) / blockSize;
    }
    return Math.max(0, Math.min(depth, lastLimit) - layout.droppedBlocks()) * blockSize;
  }

  private int row(StorageTier tier, int group) {
    for (Shelf shelf : shelves) {
      if (shelf.tier == tier && shelf.group == group) {
        return rowOfShelf[shelf.id] - 1;
      }
    }
    return -1;
  }
}
