package dev.warmpath.kvindex.runs;

import dev.warmpath.kvindex.runs.UnnamedBlock.Naming;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The blocks of one engine that have no name yet, or none any more: by engine hash, the orphans
 * among them also by parent and by age.
 *
 * <p>Single writer.
 */
final class UnnamedBlocks {

  private final ByteBudget budget;
  private Map<Long, UnnamedBlock> blocks = new HashMap<>();
  private Map<Long, UnnamedBlock> orphansByParent = new HashMap<>();
  private @Nullable UnnamedBlock oldest;
  private @Nullable UnnamedBlock youngest;
  private int orphans;
  private long held;
  private long blockBytes;

  public UnnamedBlocks(ByteBudget budget) {
    this.budget = budget;
  }

  public boolean isEmpty() {
    return blocks.size() == 0;
  }

  public int size() {
    return blocks.size();
  }

  public @Nullable UnnamedBlock get(long engineHash) {
    return blocks.get(engineHash);
  }

  /** A new block on no shelf. */
  public UnnamedBlock add(long engineHash) {
    UnnamedBlock block = new UnnamedBlock(engineHash);
    blocks.put(engineHash, block);
    count(block.bytes());
    return block;
  }

  /** Forgets the block with all its copies. */
  public void remove(UnnamedBlock block) {
    leaveOrphans(block);
    held -= block.size();
    blocks.remove(block.engineHash);
    count(-block.bytes());
  }

  public void hold(UnnamedBlock block, int shelf, int copies) {
    long before = block.bytes();
    if (block.add(shelf, copies)) {
      held++;
      count(block.bytes() - before);
    }
  }

  /** Takes one copy away; false when there is none. Forgets a block without copies. */
  public boolean take(UnnamedBlock block, int shelf) {
    int left = block.take(shelf);
    if (left == 0) {
      held--;
      if (block.size() == 0) {
        remove(block);
      }
    }
    return left >= 0;
  }

  /** Held (shelf, engine hash) pairs. */
  public long held() {
    return held;
  }

  public int orphans() {
    return orphans;
  }

  /** The block begins to wait for its parent. */
  public void joinOrphans(UnnamedBlock block) {
    block.naming = Naming.ORPHAN;
    block.older = youngest;
    if (youngest == null) {
      oldest = block;
    } else {
      youngest.younger = block;
    }
    youngest = block;
    UnnamedBlock sibling = orphansByParent.get(block.parent);
    block.nextSibling = sibling;
    if (sibling != null) {
      sibling.previousSibling = block;
    }
    orphansByParent.put(block.parent, block);
    orphans++;
  }

  /** The block waits no more, if it did. */
  public void leaveOrphans(UnnamedBlock block) {
    if (block.naming == Naming.ORPHAN) {
      leaveAges(block);
      leaveSiblings(block);
      block.naming = Naming.UNNAMED;
      orphans--;
    }
  }

  public @Nullable UnnamedBlock oldestOrphan() {
    return oldest;
  }

  /** One of the blocks that wait for this parent. */
  public @Nullable UnnamedBlock orphanOf(long parent) {
    return orphansByParent.get(parent);
  }

  public void clear() {
    budget.give(blockBytes);
    blockBytes = 0;
    blocks = new HashMap<>();
    orphansByParent = new HashMap<>();
    oldest = null;
    youngest = null;
    orphans = 0;
    held = 0;
  }

  public void forEach(Consumer<UnnamedBlock> visitor) {
    blocks.values().forEach(visitor);
  }

  /** What it takes, counted from its blocks. */
  public long bytes() {
    return blocks.values().stream().mapToLong(UnnamedBlock::bytes).sum();
  }

  private void count(long bytes) {
    blockBytes += bytes;
    budget.force(bytes);
  }

  private void leaveAges(UnnamedBlock block) {
    if (block.older == null) {
      oldest = block.younger;
    } else {
      block.older.younger = block.younger;
    }
    if (block.younger == null) {
      youngest = block.older;
    } else {
      block.younger.older = block.older;
    }
    block.older = null;
    block.younger = null;
  }

  private void leaveSiblings(UnnamedBlock block) {
    UnnamedBlock previous = block.previousSibling;
    UnnamedBlock next = block.nextSibling;
    if (next != null) {
      next.previousSibling = previous;
    }
    if (previous != null) {
      previous.nextSibling = next;
    } else if (next != null) {
      orphansByParent.put(block.parent, next);
    } else {
      orphansByParent.remove(block.parent);
    }
    block.previousSibling = null;
    block.nextSibling = null;
  }
}
