package dev.warmpath.kvindex.model;

import dev.warmpath.kvindex.CacheLayout;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.RemovedBlocks;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.model.ReferenceEngine.Shelf;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The truth about who holds what, short enough to believe: plain maps per engine, names as places
 * in the tree of prompts, matches by trying every length.
 *
 * <p>Single writer.
 */
public final class ReferenceModel implements KvIndex {

  private final int maxOrphansPerEngine;
  private final Runnable passed;
  private final Name top = Name.top();
  private final Map<Integer, ReferenceEngine> engines = new TreeMap<>();

  public ReferenceModel(int maxOrphansPerEngine) {
    this(maxOrphansPerEngine, () -> {});
  }

  /**
   * @param passed called in each state that the model passes through inside a call
   */
  public ReferenceModel(int maxOrphansPerEngine, Runnable passed) {
    this.maxOrphansPerEngine = maxOrphansPerEngine;
    this.passed = passed;
  }

  @Override
  public int addEngine(CopyCounting counting) {
    int slot = 0;
    while (engines.containsKey(slot)) {
      slot++;
    }
    engines.put(slot, new ReferenceEngine(top, counting, maxOrphansPerEngine, passed));
    return slot;
  }

  @Override
  public void removeEngine(int slot) {
    engines.remove(slot);
  }

  @Override
  public void layout(int slot, CacheLayout layout) {
    engines.get(slot).layout = layout;
  }

  @Override
  public void stored(int slot, StoredBlocks blocks) {
    engines.get(slot).confirmedBefore(blocks);
    for (int i = 0; i < blocks.count(); i++) {
      engines.get(slot).stored(blocks, i);
      passed.run();
    }
  }

  @Override
  public void removed(int slot, RemovedBlocks blocks) {
    for (int i = 0; i < blocks.count(); i++) {
      engines.get(slot).removed(blocks.tier(), blocks.group(), blocks.engineHash(i));
      passed.run();
    }
  }

  @Override
  public void cleared(int slot) {
    engines.get(slot).clear();
  }

  @Override
  public long suspended(int slot) {
    return engines.get(slot).suspend();
  }

  @Override
  public long confirmed(int slot, StorageTier tier, int group, BlockChain prompt, int blocks) {
    long confirmed = 0;
    for (Name name : names(prompt).subList(0, Math.min(blocks, prompt.blocks()))) {
      confirmed += engines.get(slot).confirmed(name, new Shelf(tier, group)) ? 1 : 0;
    }
    return confirmed;
  }

  @Override
  public long computed(int slot, StoredBlocks names) {
    return engines.get(slot).computed(names);
  }

  @Override
  public int joined(int slot, int namer, StorageTier tier, int group, long[] hashes, int count) {
    int nameless = 0;
    for (int i = 0; i < count; i++) {
      Name name = engines.get(namer).name(hashes[i]);
      if (!engines.get(slot).joined(hashes[i], name, new Shelf(tier, group))) {
        hashes[nameless++] = hashes[i];
      }
      passed.run();
    }
    return nameless;
  }

  @Override
  public void match(BlockChain prompt, PrefixMatches matches) {
    matches.begin(engines.keySet().stream().mapToInt(slot -> slot + 1).max().orElse(0));
    List<Name> names = names(prompt);
    engines.forEach((slot, engine) -> {
      List<List<Shelf>> held = names.stream().map(engine::shelves).toList();
      if (!held.stream().allMatch(List::isEmpty)) {
        fill(matches, slot, new ReferenceRule(engine.layout, prompt, held));
      }
    });
  }

  @Override
  public EngineStats stats(int slot) {
    return engines.get(slot).stats();
  }

  @Override
  public long[] soleBlocks() {
    long[] sole = new long[engines.keySet().stream().mapToInt(slot -> slot + 1).max().orElse(0)];
    engines.forEach((slot, engine) -> {
      Set<Name> held = engine.heldNames();
      engines.forEach((other, its) -> {
        if (!other.equals(slot)) {
          held.removeAll(its.heldNames());
        }
      });
      sole[slot] = held.size();
    });
    return sole;
  }

  private static void fill(PrefixMatches matches, int slot, ReferenceRule rule) {
    int fast = rule.fastTokens();
    for (StorageTier tier : StorageTier.values()) {
      matches.set(slot, tier, rule.reusableTokens(fast, tier));
    }
    matches.setHost(slot, rule.hostTokens());
  }

  private List<Name> names(BlockChain prompt) {
    List<Name> names = new ArrayList<>();
    Name name = top.child(prompt.space().rootKey());
    for (int i = 0; i < prompt.blocks(); i++) {
      name = name.child(prompt.localHash(i));
      names.add(name);
    }
    return names;
  }
}
