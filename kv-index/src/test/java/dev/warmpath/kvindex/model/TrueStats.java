package dev.warmpath.kvindex.model;

import dev.warmpath.kvindex.CacheLayout;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.ForwardingIndex;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.RemovedBlocks;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.kvindex.block.BlockChain;

/** Gives an index the statistics of the model, so that only its matches can betray it. */
final class TrueStats extends ForwardingIndex {

  private final KvIndex truth = new ReferenceModel(Differential.MAX_ORPHANS);

  TrueStats(KvIndex index) {
    super(index);
  }

  @Override
  public int addEngine(CopyCounting counting) {
    truth.addEngine(counting);
    return super.addEngine(counting);
  }

  @Override
  public void removeEngine(int slot) {
    truth.removeEngine(slot);
    super.removeEngine(slot);
  }

  @Override
  public void layout(int slot, CacheLayout layout) {
    truth.layout(slot, layout);
    super.layout(slot, layout);
  }

  @Override
  public void stored(int slot, StoredBlocks blocks) {
    truth.stored(slot, blocks);
    super.stored(slot, blocks);
  }

  @Override
  public void removed(int slot, RemovedBlocks blocks) {
    truth.removed(slot, blocks);
    super.removed(slot, blocks);
  }

  @Override
  public void cleared(int slot) {
    truth.cleared(slot);
    super.cleared(slot);
  }

  @Override
  public long suspended(int slot) {
    truth.suspended(slot);
    return super.suspended(slot);
  }

  @Override
  public int joined(int slot, int namer, StorageTier tier, int group, long[] hashes, int count) {
    truth.joined(slot, namer, tier, group, hashes.clone(), count);
    return super.joined(slot, namer, tier, group, hashes, count);
  }

  @Override
  public long confirmed(int slot, StorageTier tier, int group, BlockChain prompt, int blocks) {
    truth.confirmed(slot, tier, group, prompt, blocks);
    return super.confirmed(slot, tier, group, prompt, blocks);
  }

  @Override
  public long computed(int slot, StoredBlocks names) {
    truth.computed(slot, names);
    return super.computed(slot, names);
  }

  @Override
  public EngineStats stats(int slot) {
    return truth.stats(slot);
  }
}
