package dev.warmpath.simulator.engine;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A store of blocks that several engines write and read, as MooncakeStore is: each puts there what
 * it has committed and is not there yet, and finds what lies there from a sequence's begin on. What
 * was not used for the longest makes room.
 *
 * <p>Thread-safe.
 */
public final class BlockStore {

  /** Hears what it holds, under its lock. */
  public interface Listener {
    Listener NONE = new Listener() {};

    default void stored(CachedSequence sequence, int block) {}

    default void removed(long blockName) {}
  }

  private final int blocks;
  private Listener listener;
  private final Map<Long, Boolean> held = new LinkedHashMap<>(16, 0.75f, true);

  /** Room for so many blocks. */
  public BlockStore(int blocks, Listener listener) {
    if (blocks < 1) {
      throw new IllegalArgumentException("blocks=" + blocks);
    }
    this.blocks = blocks;
    this.listener = listener;
  }

  /** Who hears from now on. */
  public synchronized void listener(Listener other) {
    listener = other;
  }

  /** How many of a sequence's first {@code limit} blocks are there; all of these are used. */
  synchronized int find(CachedSequence sequence, int limit) {
    int end = 0;
    while (end < limit && held.containsKey(sequence.name(end))) {
      end++;
    }
    for (int i = end - 1; i >= 0; i--) {
      held.get(sequence.name(i)); // its end is dropped before its begin
    }
    return end;
  }

  /** Takes those of the blocks {@code [from, to)} that are not there; returns which. */
  synchronized List<Integer> store(CachedSequence sequence, int from, int to) {
    List<Integer> taken = new ArrayList<>();
    for (int i = from; i < to; i++) {
      if (held.get(sequence.name(i)) == null) {
        evict();
        held.put(sequence.name(i), true);
        listener.stored(sequence, i);
        taken.add(i);
      }
    }
    return taken;
  }

  private void evict() {
    if (held.size() >= blocks) {
      Iterator<Long> oldest = held.keySet().iterator();
      long name = oldest.next();
      oldest.remove();
      listener.removed(name);
    }
  }

  /** Drops what was not used for the longest, all but so much; nobody asked for room. */
  public synchronized void shrink(int left) {
    Iterator<Long> oldest = held.keySet().iterator();
    while (held.size() > left) {
      long name = oldest.next();
      oldest.remove();
      listener.removed(name);
    }
  }

  /** Another process: holds nothing, and nobody hears of that. */
  public synchronized void restart() {
    held.clear();
  }

  public synchronized int size() {
    return held.size();
  }
}
