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

  record Copy(long hash, Shelf shelf) {}

  record Claim(boolean atRoot, long parent, long localHash) {}

  private final Name top;
  private final CopyCounting counting;
  private final int maxOrphans;
  private final Runnable passed;
  private final Map<Long, Map<Shelf, Integer>> copies = new HashMap<>();
  private final Set<Copy> suspended = new HashSet<>();
  private final Set<Copy> unannounced = new HashSet<>();
  private final Map<Long, Claim> orphans = new LinkedHashMap<>();
  private final Map<Long, Name> names = new HashMap<>();
  private final Map<Name, Set<Long>> hashes = new HashMap<>();
  private final Set<Long> disputed = new HashSet<>();
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
    Copy copy = new Copy(hash, new Shelf(blocks.tier(), blocks.group()));
    boolean counts = counting == CopyCounting.PER_COPY && blocks.addsCopies();
    int more = counts && !unannounced.remove(copy) ? 1 : 0;
    hold(copy, more);
    if (blocks.named() && !disputed.contains(hash)) {
      boolean atRoot = i == 0 && blocks.atRoot();
      long parent = i == 0 ? blocks.parent() : blocks.engineHash(i - 1);
      claimed(hash, new Claim(atRoot, parent, blocks.localHash(i)));
    }
  }

  void removed(StorageTier tier, int group, long hash) {
    Shelf shelf = new Shelf(tier, group);
    Map<Shelf, Integer> held = copies.getOrDefault(hash, Map.of());
    if (suspended.remove(new Copy(hash, shelf))) {
      forgetUnknown(hash);
    } else if (!held.containsKey(shelf)) {
      unknownRemovals++;
    } else if (held.merge(shelf, -1, Integer::sum) == 0) {
      held.remove(shelf);
      unannounced.remove(new Copy(hash, shelf));
      forgetUnknown(hash);
    }
  }

  /** Nothing is sure any more. What has a name may be there still; the rest is forgotten. */
  long suspend() {
    Set<Copy> held = new HashSet<>();
    copies.forEach((hash, shelves) ->
        shelves
            .keySet()
            .forEach(shelf -> {
              if (names.containsKey(hash)) {
                held.add(new Copy(hash, shelf));
              }
            }));
    suspended.addAll(held);
    copies.clear();
    unannounced.clear();
    orphans.clear();
    disputed.clear();
    return held.size();
  }

  /** What a store says of the blocks before it: the engine holds them. */
  void confirmedBefore(StoredBlocks blocks) {
    Name name = names.get(blocks.parent());
    if (blocks.confirms() && layout.isFullAttention(blocks.group())) {
      while (name != null && !hashesOf(name).isEmpty()) {
        confirm(name, new Shelf(blocks.tier(), blocks.group()));
        name = name.parent;
      }
    }
  }

  /** The engine was seen to hold a block, maybe before its store is heard; whether it is news. */
  boolean confirmed(Name name, Shelf shelf) {
    boolean confirmed = confirm(name, shelf);
    if (confirmed && counting == CopyCounting.PER_COPY) {
      unannounced.add(new Copy(hashesOf(name).iterator().next(), shelf));
    }
    return confirmed;
  }

  /** Names that were computed: the blocks may be there. What was heard goes before. */
  long computed(StoredBlocks blocks) {
    long before = suspended.size();
    Name name = blocks.atRoot() ? top.child(blocks.parent()) : names.get(blocks.parent());
    for (int i = 0; i < blocks.count() && name != null; i++) {
      long hash = blocks.engineHash(i);
      Name next = name.child(blocks.localHash(i));
      name = mayBeCalled(hash, next) ? next : null;
      if (name != null) {
        boolean atRoot = i == 0 && blocks.atRoot();
        long parent = i == 0 ? blocks.parent() : blocks.engineHash(i - 1);
        claimed(hash, new Claim(atRoot, parent, blocks.localHash(i)));
        Copy copy = new Copy(hash, new Shelf(blocks.tier(), blocks.group()));
        if (!shelves(hash).contains(copy.shelf)) {
          suspended.add(copy);
        }
      }
    }
    return suspended.size() - before;
  }

  /** What it calls a hash, or null. */
  @Nullable Name name(long hash) {
    return names.get(hash);
  }

  /** It holds a block that another engine, or it itself, has this name for; false without one. */
  boolean joined(long hash, @Nullable Name elsewhere, Shelf shelf) {
    boolean isUnnamed = copies.containsKey(hash) && !names.containsKey(hash);
    Name name = names.getOrDefault(hash, elsewhere);
    if (isUnnamed || name == null) {
      return false;
    }
    if (!names.containsKey(hash)) {
      name(hash, name);
    }
    hold(new Copy(hash, shelf), 0);
    while (settleOne()) {
      passed.run();
    }
    return true;
  }

  private boolean mayBeCalled(long hash, Name name) {
    return names.containsKey(hash)
        ? names.get(hash) == name
        : hashesOf(name).isEmpty() && !orphans.containsKey(hash) && !disputed.contains(hash);
  }

  private boolean confirm(Name name, Shelf shelf) {
    if (hashesOf(name).size() != 1) {
      return false;
    }
    Copy copy = new Copy(hashesOf(name).iterator().next(), shelf);
    boolean found = suspended.contains(copy);
    if (found) {
      hold(copy, 1);
    }
    return found;
  }

  private void hold(Copy copy, int more) {
    suspended.remove(copy);
    copies
        .computeIfAbsent(copy.hash, first -> new HashMap<>())
        .compute(copy.shelf, (shelf, before) -> before == null ? 1 : before + more);
  }

  private Set<Long> hashesOf(Name name) {
    return hashes.getOrDefault(name, Set.of());
  }

  void clear() {
    copies.clear();
    suspended.clear();
    unannounced.clear();
    orphans.clear();
    names.clear();
    hashes.clear();
    disputed.clear();
  }

  EngineStats stats() {
    return new EngineStats(
        copies.values().stream().mapToLong(Map::size).sum(),
        names.keySet().stream().mapToLong(hash -> shelves(hash).size()).sum(),
        orphans.size(),
        orphansDropped,
        unknownRemovals,
        contradictions,
        suspended.size());
  }

  /** Where the engine holds a block of this name; one entry for each of its engine hashes. */
  List<Shelf> shelves(Name name) {
    Set<Long> called = hashesOf(name);
    if (called.isEmpty()) {
      return List.of();
    }
    List<Shelf> shelves = new ArrayList<>();
    called.forEach(hash -> shelves.addAll(shelves(hash)));
    return shelves;
  }

  /** The names that it holds in a group that counts. */
  Set<Name> heldNames() {
    Set<Name> held = new HashSet<>();
    for (Name name : hashes.keySet()) {
      if (shelves(name).stream().anyMatch(this::counts)) {
        held.add(name);
      }
    }
    return held;
  }

  private boolean counts(Shelf shelf) {
    return layout.groups().stream().anyMatch(group -> group.index() == shelf.group);
  }

  private Set<Shelf> shelves(long hash) {
    return copies.getOrDefault(hash, Map.of()).keySet();
  }

  private void claimed(long hash, Claim claim) {
    if (contradicts(hash, claim)) {
      dispute(hash);
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

  /** Names or contradicts one orphan whose parent allows it; false when there is none. */
  private boolean settleOne() {
    for (Map.Entry<Long, Claim> orphan : orphans.entrySet()) {
      long hash = orphan.getKey();
      Claim claim = orphan.getValue();
      Name parent = parent(claim);
      if (parent != null) {
        name(hash, parent.child(claim.localHash));
        return true;
      }
      if (disputed.contains(claim.parent)) {
        dispute(hash);
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

  private void dispute(long hash) {
    forget(hash);
    suspended.removeIf(copy -> copy.hash == hash);
    unannounced.removeIf(copy -> copy.hash == hash);
    disputed.add(hash);
    contradictions++;
  }

  private void forgetUnknown(long hash) {
    if (shelves(hash).isEmpty()) {
      copies.remove(hash);
      if (suspended.stream().noneMatch(copy -> copy.hash == hash)) {
        forget(hash);
      }
    }
  }

  private void forget(long hash) {
    orphans.remove(hash);
    disputed.remove(hash);
    Name name = names.remove(hash);
    if (name != null) {
      hashes.get(name).remove(hash);
    }
  }
}
