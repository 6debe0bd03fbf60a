package dev.warmpath.kvindex.model;

import dev.warmpath.kvindex.CacheLayout;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.RemovedBlocks;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.kvindex.block.BlockChain;

/** An index that passes everything on; mutants override what they break. */
public class ForwardingIndex implements KvIndex {

  protected final KvIndex index;

  protected ForwardingIndex(KvIndex index) {
    this.index = index;
  }

  @Override
  public int addEngine(CopyCounting counting) {
    return index.addEngine(counting);
  }

  @Override
  public void removeEngine(int slot) {
    index.removeEngine(slot);
  }

  @Override
  public void layout(int slot, CacheLayout layout) {
    index.layout(slot, layout);
  }

  @Override
  public void stored(int slot, StoredBlocks blocks) {
    index.stored(slot, blocks);
  }

  @Override
  public void removed(int slot, RemovedBlocks blocks) {
    index.removed(slot, blocks);
  }

  @Override
  public void cleared(int slot) {
    index.cleared(slot);
  }

  @Override
  public long doubted(int slot) {
    return index.doubted(slot);
  }

  @Override
  public long proven(int slot, StorageTier tier, int group, BlockChain prompt, int blocks) {
    return index.proven(slot, tier, group, prompt, blocks);
  }

  @Override
  public long recalled(int slot, StoredBlocks names) {
    return index.recalled(slot, names);
  }

  @Override
  public void match(BlockChain prompt, PrefixMatches matches) {
    index.match(prompt, matches);
  }

  @Override
  public EngineStats stats(int slot) {
    return index.stats(slot);
  }
}
