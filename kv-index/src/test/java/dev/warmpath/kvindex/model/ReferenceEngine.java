package dev.warmpath.kvindex.model;

import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.CacheLayout;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.KvIndex.EngineStats;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.kvindex.block.BlockChain;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * One engine of the {@link ReferenceModel}.
 *
 * <p>A block's name is its whole path: the root key and the local hashes down to it.
 */
final class ReferenceEngine {

  record Copy(StorageTier tier, int group, long hash) {}

  record Claim(boolean atRoot, long parent, long localHash) {}

  record Held(int group, List<Long> name) {}

  private final CopyCounting counting;
  private final int maxOrphans;
  private final List<Copy> copies = new ArrayList<>();
  private final Map<Long, Claim> claims = new LinkedHashMap<>();
  private final Map<Long, List<Long>> names = new HashMap<>();
  private final Set<Long> doubted = new HashSet<>();
  private long orphansDropped;
  private long unknownRemovals;
  private long contradictions;
  CacheLayout layout = new CacheLayout(List.of(), 0, 0);

  ReferenceEngine(CopyCounting counting, int maxOrphans) {
    this.counting = counting;
    this.maxOrphans = maxOrphans;
  }

  void stored(StoredBlocks blocks, int i) {
    long hash = blocks.engineHash(i);
    Copy copy = new Copy(blocks.tier(), blocks.group(), hash);
    if (counting == CopyCounting.PER_COPY || !copies.contains(copy)) {
      copies.add(copy);
    }
    if (blocks.named() && !doubted.contains(hash)) {
      boolean atRoot = i == 0 && blocks.atRoot();
      long parent = i == 0 ? blocks.parent() : blocks.engineHash(i - 1);
      Claim claim = new Claim(atRoot, parent, blocks.localHash(i));
      if (contradicts(hash, claim)) {
        doubt(hash);
      }
      if (!doubted.contains(hash)) {
        claims.putIfAbsent(hash, claim);
      }
      while (settleOne()) {}
      dropOldestOrphan();
    }
  }

  void removed(StorageTier tier, int group, long hash) {
    if (!copies.remove(new Copy(tier, group, hash))) {
      unknownRemovals++;
    }
    if (copies.stream().noneMatch(copy -> copy.hash == hash)) {
      forget(hash);
    }
  }

  void clear() {
    copies.clear();
    claims.clear();
    names.clear();
    doubted.clear();
  }

  EngineStats stats() {
    return new EngineStats(
        copies.stream().distinct().count(),
        copies.stream().distinct().filter(copy -> names.containsKey(copy.hash)).count(),
        orphans().count(),
        orphansDropped,
        unknownRemovals,
        contradictions);
  }

  /** What the GPU allows, and what the slower tiers allow behind it. */
  int reusableTokens(BlockChain prompt, StorageTier slowest) {
    int fast = longest(prompt, held(copy -> copy.tier == StorageTier.GPU));
    int pathLength = 1 + fast / prompt.space().blockSizeTokens();
    Set<Held> behind =
        held(copy ->
            copy.tier == StorageTier.GPU
                ? names.get(copy.hash).size() <= pathLength
                : copy.tier.compareTo(slowest) <= 0);
    return Math.max(fast, longest(prompt, behind));
  }

  private Set<Held> held(Predicate<Copy> which) {
    return copies.stream()
        .filter(copy -> names.containsKey(copy.hash))
        .filter(which)
        .map(copy -> new Held(copy.group, names.get(copy.hash)))
        .collect(Collectors.toSet());
  }

  /** The longest length that every group allows, by trying all. */
  private int longest(BlockChain prompt, Set<Held> held) {
    int best = 0;
    for (int length = 1; length <= prompt.promptTokens() && !held.isEmpty(); length++) {
      if (reusable(prompt, held, length)) {
        best = length;
      }
    }
    return best;
  }

  private boolean reusable(BlockChain prompt, Set<Held> held, int length) {
    int withDropped = length + layout.droppedBlocks() * unit();
    return !layout.groups().isEmpty()
        && length % unit() == 0
        && withDropped <= prompt.promptTokens() - layout.withheldTokens()
        && layout.groups().stream()
            .allMatch(group ->
                agrees(group, prompt, held, length) && agrees(group, prompt, held, withDropped));
  }

  private int unit() {
    int unit = 1;
    for (boolean common = false; !common; unit++) {
      int candidate = unit;
      common = layout.groups().stream().allMatch(g -> candidate % g.blockSizeTokens() == 0);
    }
    return unit - 1;
  }

  private static boolean agrees(CacheGroup group, BlockChain prompt, Set<Held> held, int length) {
    int firstTokenNeeded =
        switch (group.kind()) {
          case FULL_ATTENTION -> 0;
          case SLIDING_WINDOW -> length - (group.slidingWindowTokens() - 1);
          case MAMBA -> length - 1;
          case UNKNOWN -> Integer.MIN_VALUE;
        };
    for (int end = group.blockSizeTokens(); end <= length; end += group.blockSizeTokens()) {
      if (end > firstTokenNeeded && !held.contains(blockThatEndsAt(end, group, prompt))) {
        return false;
      }
    }
    return group.kind() != CacheGroup.Kind.UNKNOWN;
  }

  private static Held blockThatEndsAt(int end, CacheGroup group, BlockChain prompt) {
    int chainBlockTokens = prompt.space().blockSizeTokens();
    int blocks = end / chainBlockTokens;
    if (group.blockSizeTokens() % chainBlockTokens != 0 || blocks > prompt.blocks()) {
      return new Held(group.index(), List.of());
    }
    List<Long> name = new ArrayList<>(List.of(prompt.space().rootKey()));
    for (int i = 0; i < blocks; i++) {
      name.add(prompt.localHash(i));
    }
    return new Held(group.index(), name);
  }

  private boolean contradicts(long hash, Claim claim) {
    List<Long> name = names.get(hash);
    if (name == null) {
      return !claim.equals(claims.getOrDefault(hash, claim));
    }
    List<Long> parent = claim.atRoot ? List.of(claim.parent) : names.get(claim.parent);
    boolean sameLocal = name.get(name.size() - 1) == claim.localHash;
    return !sameLocal || (parent != null && !parent.equals(name.subList(0, name.size() - 1)));
  }

  private Stream<Long> orphans() {
    return claims.keySet().stream().filter(hash -> !names.containsKey(hash));
  }

  /** Names or doubts one orphan whose parent allows it; false when there is none. */
  private boolean settleOne() {
    for (long hash : orphans().toList()) {
      Claim claim = claims.get(hash);
      List<Long> parent = claim.atRoot ? List.of(claim.parent) : names.get(claim.parent);
      if (parent != null) {
        List<Long> name = new ArrayList<>(parent);
        name.add(claim.localHash);
        names.put(hash, name);
        return true;
      }
      if (doubted.contains(claim.parent)) {
        doubt(hash);
        return true;
      }
    }
    return false;
  }

  private void doubt(long hash) {
    forget(hash);
    doubted.add(hash);
    contradictions++;
  }

  private void dropOldestOrphan() {
    if (orphans().count() > maxOrphans) {
      claims.remove(orphans().findFirst().orElseThrow());
      orphansDropped++;
    }
  }

  private void forget(long hash) {
    claims.remove(hash);
    names.remove(hash);
    doubted.remove(hash);
  }
}
