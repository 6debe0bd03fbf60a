package dev.warmpath.kvindex.plain;

import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/**
 * The blocks of one engine whose parent has no name yet, by the parent's engine hash and by age.
 *
 * <p>Single writer, many readers, under the lock of the index.
 */
final class Orphans {

  private final Set<HeldBlock> byAge = new LinkedHashSet<>();
  private final Map<Long, Set<HeldBlock>> byParent = new HashMap<>();

  void add(HeldBlock block, long parent) {
    byAge.add(block);
    byParent.computeIfAbsent(parent, hash -> new LinkedHashSet<>()).add(block);
  }

  void remove(HeldBlock block, long parent) {
    byAge.remove(block);
    Set<HeldBlock> siblings = byParent.get(parent);
    if (siblings != null && siblings.remove(block) && siblings.isEmpty()) {
      byParent.remove(parent);
    }
  }

  /** Takes out all blocks that wait for {@code parent}. */
  Set<HeldBlock> adopt(long parent) {
    Set<HeldBlock> children = byParent.remove(parent);
    if (children == null) {
      return Set.of();
    }
    byAge.removeAll(children);
    return children;
  }

  /** The block that has waited longest; there must be one. */
  HeldBlock oldest() {
    return byAge.iterator().next();
  }

  boolean contains(HeldBlock block) {
    return byAge.contains(block);
  }

  int size() {
    return byAge.size();
  }

  void clear() {
    byAge.clear();
    byParent.clear();
  }
}
