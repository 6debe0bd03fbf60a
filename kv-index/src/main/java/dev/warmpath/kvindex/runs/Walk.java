package dev.warmpath.kvindex.runs;

import dev.warmpath.kvindex.CacheLayout;
import dev.warmpath.kvindex.HeldRows;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.TierReuse;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.runs.Shelves.Shelf;
import java.util.Arrays;

/**
 * The notes of one walk down the tree: which runs were seen in which version, and which blocks each
 * shelf holds; reused from walk to walk.
 *
 * <p>Confined to its thread.
 */
final class Walk {

  /** Runs seen that room is kept for: 64 blocks each, so half a million tokens of 16 a block. */
  private static final int KEPT_SEEN = 2 * 512;

  private static final Shelf[] NO_SHELVES = {};
  private static final PrefixMatches NO_MATCHES = new PrefixMatches();

  private final HeldRows rows = new HeldRows();
  private final TierReuse tiers = new TierReuse(rows, this::row);
  private int[] seen = new int[2 * 16];
  private int seenCount;
  private int[] rowOfShelf = new int[16];
  private int[] met = new int[16];
  private int metCount;
  private ReadView fleet = ReadView.EMPTY;
  private Shelf[] shelves = NO_SHELVES;
  private PrefixMatches matches = NO_MATCHES;

  /** Keeps the compiler from leaving out looks at what comes next. */
  public long sink;

  /**
   * Whether all that counts is how far each shelf's blocks go without a hole: then depths go
   * straight into the answer.
   */
  public boolean byDepth;

  public void begin(BlockChain prompt, ReadView fleet, PrefixMatches matches) {
    this.fleet = fleet;
    this.matches = matches;
    for (int i = 0; i < metCount; i++) {
      rowOfShelf[met[i]] = 0;
    }
    metCount = 0;
    seenCount = 0;
    if (rowOfShelf.length < fleet.shelfBound()) {
      rowOfShelf = new int[2 * fleet.shelfBound()];
      met = new int[rowOfShelf.length];
    }
    int blockSize = prompt.space().blockSizeTokens();
    byDepth = fleet.goesByDepth(blockSize);
    if (byDepth && fleet.isUniform()) {
      int limit = (prompt.promptTokens() - fleet.withheldTokens()) / blockSize;
      matches.begin(fleet.slots(), limit, fleet.droppedBlocks(), blockSize);
    } else {
      matches.begin(fleet.slots());
    }
    if (!byDepth) {
      rows.begin(prompt.blocks());
    }
  }

  /** The walk is over: its thread keeps what usual prompts need, and no fleet that is gone. */
  void end() {
    fleet = ReadView.EMPTY;
    shelves = NO_SHELVES;
    matches = NO_MATCHES;
    if (seen.length > KEPT_SEEN) {
      seen = new int[2 * 16];
    }
    rows.trim();
  }

  /** Bytes of the largest of its arrays, which the length of a prompt decides. */
  long keptBytes() {
    return 4L * seen.length + 8L * rows.keptWords();
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
   * A shelf holds these blocks behind the first {@code matched}; for walks on which what lies
   * behind a hole counts too.
   */
  public void mark(int shelf, long mask, int matched) {
    if (fleet.counts(shelf)) {
      if (rowOfShelf[shelf] == 0) {
        rowOfShelf[shelf] = rows.add() + 1;
        met[metCount++] = shelf;
      }
      rows.mark(rowOfShelf[shelf] - 1, matched, mask);
    }
  }

  /** Says what the shelves met make of the prompt. */
  public void fill(BlockChain prompt) {
    if (byDepth && !fleet.isUniform()) {
      fillByDepth(prompt);
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

  /** Makes tokens of the depths in blocks, by each engine's own layout. */
  private void fillByDepth(BlockChain prompt) {
    int blockSize = prompt.space().blockSizeTokens();
    for (int slot = 0; slot < matches.slots(); slot++) {
      int depth = matches.tokens(slot);
      CacheLayout layout = fleet.layout(slot);
      if (depth > 0 && layout != null) {
        int limit = (prompt.promptTokens() - layout.withheldTokens()) / blockSize;
        int blocks = Math.min(depth, limit) - layout.droppedBlocks();
        matches.set(slot, Math.max(0, blocks) * blockSize);
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
