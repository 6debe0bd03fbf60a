package dev.warmpath.simulator.bench.generate.fleet;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The blocks that one engine holds, the least recently used first.
 *
 * <p>Single writer.
 */
final class EngineCache {

  private final int capacity;
  private final Map<Integer, Boolean> blocks = new LinkedHashMap<>(64, 0.75f, true);

  EngineCache(int capacity) {
    this.capacity = capacity;
  }

  boolean holds(int block) {
    return blocks.containsKey(block);
  }

  /** Makes a held block the most recently used. */
  void touch(int block) {
    blocks.get(block);
  }

  void add(int block) {
    blocks.put(block, true);
  }

  void remove(int block) {
    blocks.remove(block);
  }

  int size() {
    return blocks.size();
  }

  /** Evicts until {@code added} more fit; returns what went, oldest first. */
  int[] makeRoom(int added) {
    int[] evicted = new int[Math.max(0, blocks.size() + added - capacity)];
    Iterator<Integer> oldest = blocks.keySet().iterator();
    for (int i = 0; i < evicted.length; i++) {
      evicted[i] = oldest.next();
      oldest.remove();
    }
    return evicted;
  }
}
