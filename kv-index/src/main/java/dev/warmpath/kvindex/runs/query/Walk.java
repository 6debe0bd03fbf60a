package dev.warmpath.kvindex.runs.query;

import dev.warmpath.kvindex.CacheLayout;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.reuse.HeldRows;
import dev.warmpath.kvindex.reuse.TierReuse;
import dev.warmpath.kvindex.runs.tree.Shelves.Shelf;
import java.util.Arrays;

/**
 * The notes of one walk down the tree: which runs were seen in which version, and how deep each
 * shelf goes; reused from walk to walk.
 *
 * <p>Confined to its thread.
 */
public final class Walk {

  private final HeldRows rows = new HeldRows();
  private final TierReuse tiers = new TierReuse(rows, this::row);
  private int[] seen = new int[2 * 16];
  private int seenCount;
  private int number;

  /** For each shelf how deep it goes, with the number of the walk in the upper half. */
  private long[] depths = new long[16];

  private int[] rowOfShelf = new int[16];
  private int[] met = new int[16];
  private int metCount;
  private ReadView fleet = ReadView.EMPTY;
  private Shelf[] shelves = {};
  private PrefixMatches matches = new PrefixMatches();

  /** Keeps the compiler from leaving out looks at what comes next. */
  public long sink;

  /** Whether all that counts is how far each shelf's blocks go without a hole. */
  public boolean byDepth;

  /** Whether, besides, all engines count alike, so that depths can go straight into the answer. */
  public boolean direct;

  public void begin(BlockChain prompt, ReadView fleet, PrefixMatches matches) {
    this.fleet = fleet;
    this.matches = matches;
    if (!byDepth) {
      for (int i = 0; i < metCount; i++) {
        rowOfShelf[met[i]] = 0;
      }
    }
    int blockSize = prompt.space().blockSizeTokens();
    byDepth = fleet.goesByDepth(blockSize);
    direct = byDepth && fleet.isUniform();
    metCount = 0;
    seenCount = 0;
    number++;
    if (depths.length < fleet.shelfBound() || number == 0) {
      int length = Math.max(depths.length, 2 * fleet.shelfBound());
      depths = new long[length];
      rowOfShelf = new int[length];
      met = new int[length];
      number = 1;
    }
    if (direct) {
      int limit = (prompt.promptTokens() - fleet.withheldTokens()) / blockSize;
      matches.begin(fleet.slots(), limit, fleet.droppedBlocks(), blockSize);
    } else {
      matches.begin(fleet.slots());
    }
    if (!byDepth) {
      rows.begin(prompt.blocks());
    }
  }

  public ReadView fleet() {
    return fleet;
  }

  public PrefixMatches matches() {
    return matches;
  }

  public void see(int run, int version) {
    if (2 * seenCount == seen.length) {
      seen = Arrays.copyOf(seen, 2 * seen.length);
    }
    seen[2 * seenCount] = run;
    seen[2 * seenCount + 1] = version;
    seenCount++;
  }

  /** The last run was not the one looked for. */
  public void unsee() {
    seenCount--;
  }

  public int seen() {
    return seenCount;
  }

  public int seenRun(int index) {
    return seen[2 * index];
  }

  public int seenVersion(int index) {
    return seen[2 * index + 1];
  }

  /**
   * A shelf holds these of the {@code common} blocks behind the first {@code matched}; whether it
   * holds all so far. Only for walks {@link #byDepth}.
   */
  public boolean deepen(int shelf, long mask, int matched, int common) {
    long depth = depths[shelf];
    int more = Long.numberOfTrailingZeros(~mask);
    if (matched == 0) {
      if (more == 0 || (int) (depth >>> Integer.SIZE) == number || !fleet.counts(shelf)) {
        return false;
      }
      met[metCount++] = shelf;
    } else if (depth != stamped(matched)) {
      return false;
    }
    depths[shelf] = stamped(matched + more);
    return more == common;
  }

  /** The same for walks on which what lies behind a hole counts too. */
  public void mark(int shelf, long mask, int matched) {
    if (fleet.counts(shelf)) {
      if (rowOfShelf[shelf] == 0) {
        rowOfShelf[shelf] = rows.add() + 1;
        met[metCount++] = shelf;
      }
      rows.mark(rowOfShelf[shelf] - 1, matched, mask);
    }
  }

  private long stamped(int depth) {
    return ((long) number << Integer.SIZE) | depth;
  }

  /** Says what the shelves met make of the prompt. */
  public void fill(BlockChain prompt) {
    if (byDepth) {
      fillByDepth(prompt, matches);
      return;
    }
    for (int i = 0; i < metCount; i++) {
      int slot = fleet.slot(met[i]);
      CacheLayout layout = fleet.layout(slot);
      if (layout != null && matches.tokens(slot) == 0) {
        shelves = fleet.shelves(slot);
        tiers.fill(slot, layout, prompt, matches);
      }
    }
  }

  /** What {@link dev.warmpath.kvindex.reuse.ReuseRule} says for one full-attention group. */
  private void fillByDepth(BlockChain prompt, PrefixMatches matches) {
    int blockSize = prompt.space().blockSizeTokens();
    int lastWithheld = -1;
    int limit = 0;
    for (int i = 0; i < metCount; i++) {
      int shelf = met[i];
      if (fleet.withheldTokens(shelf) != lastWithheld) {
        // A division is dear, and most engines withhold the same.
        lastWithheld = fleet.withheldTokens(shelf);
        limit = (prompt.promptTokens() - lastWithheld) / blockSize;
      }
      int blocks = Math.min((int) depths[shelf], limit) - fleet.droppedBlocks(shelf);
      if (blocks > 0) {
        matches.set(fleet.slot(shelf), blocks * blockSize);
      }
    }
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
