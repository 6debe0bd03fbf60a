package dev.warmpath.router.snapshot;

import dev.warmpath.kvindex.CacheLayout;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.IndexTotals;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.RemovedBlocks;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.runs.RunKvIndex;
import org.jspecify.annotations.Nullable;

/**
 * The index of a router from its start on: has no engines and credits nobody until the earlier
 * process's snapshot was read, and is what was read from then on. Not written before.
 *
 * <p>Single writer, many readers.
 */
final class RestoredIndex implements KvIndex {

  private volatile @Nullable RunKvIndex index;

  /** From now on it is this one. */
  void become(RunKvIndex read) {
    index = read;
  }

  /** What was read. */
  RunKvIndex read() {
    RunKvIndex read = index;
    if (read == null) {
      throw new IllegalStateException("the snapshot is still being read");
    }
    return read;
  }

  @Override
  public int addEngine(CopyCounting counting) {
    return read().addEngine(counting);
  }

  @Override
  public void removeEngine(int slot) {
    read().removeEngine(slot);
  }

  @Override
  public void layout(int slot, CacheLayout layout) {
    read().layout(slot, layout);
  }

  @Override
  public void stored(int slot, StoredBlocks blocks) {
    read().stored(slot, blocks);
  }

  @Override
  public void removed(int slot, RemovedBlocks blocks) {
    read().removed(slot, blocks);
  }

  @Override
  public void cleared(int slot) {
    read().cleared(slot);
  }

  @Override
  public long suspended(int slot) {
    return read().suspended(slot);
  }

  @Override
  public long confirmed(int slot, StorageTier tier, int group, BlockChain prompt, int blocks) {
    return read().confirmed(slot, tier, group, prompt, blocks);
  }

  @Override
  public long computed(int slot, StoredBlocks names) {
    return read().computed(slot, names);
  }

  @Override
  public void match(BlockChain prompt, PrefixMatches matches) {
    RunKvIndex read = index;
    if (read == null) {
      matches.begin(0);
    } else {
      read.match(prompt, matches);
    }
  }

  @Override
  public EngineStats stats(int slot) {
    RunKvIndex read = index;
    if (read == null) {
      throw new IllegalArgumentException("slot=" + slot + " has no engine yet");
    }
    return read.stats(slot);
  }

  @Override
  public IndexTotals totals() {
    RunKvIndex read = index;
    return read == null ? IndexTotals.NONE : read.totals();
  }
}
