package dev.warmpath.kvindex.model;

import dev.warmpath.kvindex.ForwardingIndex;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.StoredBlocks;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Passes everything on and remembers roughly what is suspended; mutants do wrong with it. */
class SuspensionMutant extends ForwardingIndex {

  private record Copy(int slot, StorageTier tier, int group, long hash) {}

  private record Child(Copy copy, long parent, long localHash) {}

  private final Set<Copy> copies = new HashSet<>();
  private final Set<Copy> suspended = new HashSet<>();
  private final Set<Child> children = new HashSet<>();

  SuspensionMutant(KvIndex right) {
    super(right);
  }

  @Override
  public long suspended(int slot) {
    copies.stream().filter(copy -> copy.slot == slot).forEach(suspended::add);
    return super.suspended(slot);
  }

  @Override
  public void stored(int slot, StoredBlocks blocks) {
    super.stored(slot, blocks);
    for (int i = 0; i < blocks.count(); i++) {
      Copy copy = copy(slot, blocks, i);
      suspended.remove(copy);
      copies.add(copy);
      if (blocks.named() && (i > 0 || !blocks.atRoot())) {
        long parent = i == 0 ? blocks.parent() : blocks.engineHash(i - 1);
        children.add(new Child(copy, parent, blocks.localHash(i)));
      }
    }
  }

  /** Suspended blocks that hang where the store begins, each as a store of its own. */
  List<StoredBlocks> siblings(int slot, StoredBlocks blocks) {
    return children.stream()
        .filter(child -> child.parent == blocks.parent() && suspended.contains(child.copy))
        .filter(child -> child.copy.slot == slot && child.copy.tier == blocks.tier())
        .filter(child -> child.copy.group == blocks.group())
        .map(child ->
            new StoredBlocks()
                .behind(blocks.tier(), blocks.group(), child.parent)
                .add(child.copy.hash, child.localHash))
        .toList();
  }

  private static Copy copy(int slot, StoredBlocks blocks, int i) {
    return new Copy(slot, blocks.tier(), blocks.group(), blocks.engineHash(i));
  }
}
