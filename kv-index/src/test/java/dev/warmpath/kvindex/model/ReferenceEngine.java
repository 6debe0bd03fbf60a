package dev.warmpath.kvindex.model;

import dev.warmpath.kvindex.CacheLayout;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.KvIndex.EngineStats;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.StoredBlocks;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One engine of the {@link ReferenceModel}: what it holds, and what its blocks are called.
 *
 * <p>Single writer.
 */
final class ReferenceEngine {

  record Shelf(StorageTier tier, int group) {}

  record Claim(boolean atRoot, long parent, long localHash) {}

  private final Name top;
  private final CopyCounting counting;
  private final int maxOrphans;
  private final Runnable passed;
  private final Map<Long, Map<Shelf, Integer>> copies = new HashMap<>();
  private final Map<Long, Claim> orphans = new LinkedHashMap<>();
  private final Map<Long, Name> names = new HashMap<>();
  private final Map<Name, Set<Long>> hashes = new HashMap<>();
  private final Set<Long> doubted = new HashSet<>();
  private long orphansDropped;
  private long unknownRemovals;
  private long contradictions;
  CacheLayout layout = new CacheLayout(List.of(), 0, 0);

  ReferenceEngine(Name top, CopyCounting counting, int maxOrphans, Runnable passed) {
    this.top = top;
    this.counting = counting;
    this.maxOrphans = maxOrphans;
    this.passed = passed;
  }

  void stored(StoredBlocks blocks, int i) {
    long hash = blocks.engineHash(i);
    copies
        .computeIfAbsent(hash, first -> new HashMap<>())
        .merge(
            new Shelf(blocks.tier(), blocks.group()),
            1,
            (before, one) -> counting == CopyCounting.PER_COPY ? before + one : one);
    if (blocks.named() && !doubted.contains(hash)) {
      boolean atRoot = i == 0 && blocks.atRoot();
      long parent = i == 0 ? blocks.parent() : blocks.engineHash(i - 1);
      claimed(hash, new Claim(atRoot, parent, blocks.localHash(i)));
    }
  }

  void removed(StorageTier tier, int group, long hash) {
    Shelf shelf = new Shelf(tier, group);
    Map<Shelf, Integer> held = copies.getOrDefault(hash, Map.of());
    if (!held.containsKey(shelf)) {
      unknownRemovals++;
    } else if (held.merge(shelf, -1, Integer::sum) == 0) {
      held.remove(shelf);
      if (held.isEmpty()) {
        copies.remove(hash);
        forget(hash);
      }
    }
  }

  void clear() {
    copies.clear();
    orphans.clear();
    names.clear();
    hashes.clear();
    doubted.clear();
  }

  EngineStats stats() {
    return new EngineStats(
        copies.values().stream().mapToLong(Map::size).sum(),
        names.keySet().stream().mapToLong(hash -> copies.get(hash).size()).sum(),
        orphans.size(),
        orphansDropped,
        unknownRemovals,
        contradictions);
  }

  /** Where the engine holds a block of this name; one entry for each of its engine hashes. */
  List<Shelf> shelves(Name name) {
    List<Shelf> shelves = new ArrayList<>();
    hashes.getOrDefault(name, Set.of()).forEach(hash -> shelves.addAll(copies.get(hash).keySet()));
    return shelves;
  }

  private void claimed(long hash, Claim claim) {
    if (contradicts(hash, claim)) {
      doubt(hash);
    } else if (!names.containsKey(hash)) {
      orphans.putIfAbsent(hash, claim);
    }
    while (settleOne()) {
      passed.run();
    }
    if (orphans.size() > maxOrphans) {
      orphans.remove(orphans.keySet().iterator().next());
      orphansDropped++;
    }
  }

  private boolean contradicts(long hash, Claim claim) {
    Name name = names.get(hash);
    if (name == null) {
      return !claim.equals(orphans.getOrDefault(hash, claim));
    }
    Name parent = parent(claim);
    return parent == null
        ? name.localHash != claim.localHash
        : name != parent.child(claim.localHash);
  }

  private @Nullable Name parent(Claim claim) {
    return claim.atRoot ? top.child(claim.parent) : names.get(claim.parent);
  }

  /** Names or doubts one orphan whose parent allows it; false when there is none. */
  private boolean settleOne() {
    for (Map.Entry<Long, Claim> orphan : orphans.entrySet()) {
      long hash = orphan.getKey();
      Claim claim = orphan.getValue();
      Name parent = parent(claim);
      if (parent != null) {
        name(hash, parent.child(claim.localHash));
        return true;
      }
      if (doubted.contains(claim.parent)) {
        doubt(hash);
        return true;
      }
    }
    return false;
  }

  private void name(long hash, Name name) {
    orphans.remove(hash);
    names.put(hash, name);
    hashes.computeIfAbsent(name, first -> new HashSet<>()).add(hash);
  }

  private void doubt(long hash) {
    forget(hash);
    doubted.add(hash);
    contradictions++;
  }

  private void forget(long hash) {
    orphans.remove(hash);
    doubted.remove(hash);
    Name name = names.remove(hash);
    if (name != null) {
      hashes.get(name).remove(hash);
    }
  }
}
