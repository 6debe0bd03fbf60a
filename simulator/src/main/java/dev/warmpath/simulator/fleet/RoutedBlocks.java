package dev.warmpath.simulator.fleet;

import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.RemovedBlocks;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.StoredBlocks;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What a router without events believes that one engine holds: the prompts that it was given, the
 * longest unused first forgotten, no more than fit its cache and none longer than for a time.
 *
 * <p>Single writer.
 */
final class RoutedBlocks {

  private final int mostBlocks;
  private final long keepNanos;
  private final LinkedHashMap<Long, Long> usedNanos = new LinkedHashMap<>(16, 0.75f, true);
  private final StoredBlocks stored = new StoredBlocks();
  private final RemovedBlocks removed = new RemovedBlocks();

  RoutedBlocks(int mostBlocks, long keepNanos) {
    this.mostBlocks = mostBlocks;
    this.keepNanos = keepNanos;
  }

  /** A prompt with these blocks was sent there. */
  void given(KvIndex index, int slot, long rootKey, long[] names, long nowNanos) {
    int known = 0;
    while (known < names.length && usedNanos.containsKey(names[known])) {
      known++;
    }
    for (int i = names.length - 1; i >= 0; i--) { // a prompt's end is forgotten before its begin
      usedNanos.put(names[i], nowNanos);
    }
    if (known < names.length) {
      if (known == 0) {
        stored.atRoot(StorageTier.GPU, 0, rootKey);
      } else {
        stored.behind(StorageTier.GPU, 0, names[known - 1]);
      }
      stored.ifAbsent();
      for (int i = known; i < names.length; i++) {
        stored.add(names[i], names[i]);
      }
      index.stored(slot, stored);
    }
    forget(index, slot, nowNanos);
  }

  private void forget(KvIndex index, int slot, long nowNanos) {
    removed.from(StorageTier.GPU, 0);
    Iterator<Map.Entry<Long, Long>> oldest = usedNanos.entrySet().iterator();
    while (oldest.hasNext()) {
      Map.Entry<Long, Long> block = oldest.next();
      if (usedNanos.size() <= mostBlocks && nowNanos - block.getValue() <= keepNanos) {
        break;
      }
      removed.add(block.getKey());
      oldest.remove();
    }
    if (removed.count() > 0) {
      index.removed(slot, removed);
    }
  }

  void clear() {
    usedNanos.clear();
  }
}
