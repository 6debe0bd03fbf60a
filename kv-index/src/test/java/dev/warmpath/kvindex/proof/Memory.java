package dev.warmpath.kvindex.proof;

import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.ForwardingIndex;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.RemovedBlocks;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.kvindex.block.BlockHasher;
import java.util.HashMap;
import java.util.Map;

/**
 * An index that passes everything on and remembers for each slot what it holds and what that is
 * called, roughly: enough for mutants to get one thing wrong.
 *
 * <p>Single writer.
 */
class Memory extends ForwardingIndex {

  record Copy(int slot, StorageTier tier, int group, long hash) {}

  record Block(int slot, long hash) {}

  final Map<Copy, Integer> copies = new HashMap<>();
  final Map<Block, Long> keys = new HashMap<>();
  final Map<Block, Long> parents = new HashMap<>();
  final Map<Integer, CopyCounting> countings = new HashMap<>();

  Memory(KvIndex index) {
    super(index);
  }

  /** What becomes of it in a snapshot. */
  void reload() {}

  @Override
  public int addEngine(CopyCounting counting) {
    int slot = super.addEngine(counting);
    countings.put(slot, counting);
    return slot;
  }

  @Override
  public void removeEngine(int slot) {
    super.removeEngine(slot);
    forget(slot);
  }

  @Override
  public void cleared(int slot) {
    super.cleared(slot);
    forget(slot);
  }

  @Override
  public long suspended(int slot) {
    copies.keySet().removeIf(copy -> copy.slot == slot);
    return super.suspended(slot);
  }

  @Override
  public void stored(int slot, StoredBlocks blocks) {
    super.stored(slot, blocks);
    for (int i = 0; i < blocks.count(); i++) {
      long hash = blocks.engineHash(i);
      copies.merge(new Copy(slot, blocks.tier(), blocks.group(), hash), 1, Integer::sum);
      if (blocks.named()) {
        long parent = i == 0 ? blocks.parent() : blocks.engineHash(i - 1);
        boolean atRoot = i == 0 && blocks.atRoot();
        Long parentKey = atRoot ? Long.valueOf(parent) : keys.get(new Block(slot, parent));
        if (parentKey != null) {
          keys.put(new Block(slot, hash), BlockHasher.blockKey(parentKey, blocks.localHash(i)));
        }
        if (!atRoot) {
          parents.put(new Block(slot, hash), parent);
        }
      }
    }
  }

  @Override
  public void removed(int slot, RemovedBlocks blocks) {
    super.removed(slot, blocks);
    for (int i = 0; i < blocks.count(); i++) {
      long hash = blocks.engineHash(i);
      Copy copy = new Copy(slot, blocks.tier(), blocks.group(), hash);
      copies.computeIfPresent(copy, (same, count) -> count > 1 ? count - 1 : null);
    }
  }

  boolean holds(int slot, long hash) {
    return copies.keySet().stream().anyMatch(copy -> copy.slot == slot && copy.hash == hash);
  }

  /** One block of an event as an event of its own. */
  static StoredBlocks single(StoredBlocks blocks, int i) {
    StoredBlocks one = new StoredBlocks();
    if (!blocks.named()) {
      one.unnamed(blocks.tier(), blocks.group());
    } else if (i == 0 && blocks.atRoot()) {
      one.atRoot(blocks.tier(), blocks.group(), blocks.parent());
    } else {
      long parent = i == 0 ? blocks.parent() : blocks.engineHash(i - 1);
      one.behind(blocks.tier(), blocks.group(), parent);
    }
    return one.add(blocks.engineHash(i), blocks.localHash(i));
  }

  private void forget(int slot) {
    copies.keySet().removeIf(copy -> copy.slot == slot);
    keys.keySet().removeIf(block -> block.slot == slot);
    parents.keySet().removeIf(block -> block.slot == slot);
  }
}
