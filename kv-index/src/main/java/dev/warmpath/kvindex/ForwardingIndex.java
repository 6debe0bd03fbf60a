package dev.warmpath.kvindex;

import dev.warmpath.kvindex.block.BlockChain;

/**
 * An index that passes everything on; who wants to see or change a call overrides it.
 *
 * <p>Single writer, many readers, as far as the index behind it.
 */
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
  public long suspended(int slot) {
    return index.suspended(slot);
  }

  @Override
  public long confirmed(int slot, StorageTier tier, int group, BlockChain prompt, int blocks) {
    return index.confirmed(slot, tier, group, prompt, blocks);
  }

  @Override
  public long computed(int slot, StoredBlocks names) {
    return index.computed(slot, names);
  }

  @Override
  public int joined(int slot, int namer, StorageTier tier, int group, long[] hashes, int count) {
    return index.joined(slot, namer, tier, group, hashes, count);
  }

  @Override
  public void match(BlockChain prompt, PrefixMatches matches) {
    index.match(prompt, matches);
  }

  @Override
  public long[] soleBlocks() {
    return index.soleBlocks();
  }

  @Override
  public EngineStats stats(int slot) {
    return index.stats(slot);
  }

  @Override
  public long blocksOnGpu(int slot) {
    return index.blocksOnGpu(slot);
  }

  @Override
  public IndexTotals totals() {
    return index.totals();
  }
}
