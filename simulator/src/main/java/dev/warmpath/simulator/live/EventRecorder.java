package dev.warmpath.simulator.live;

import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.block.ExtraKey;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.simulator.engine.CacheListener;
import dev.warmpath.simulator.engine.CachedSequence;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Turns the changes of a cache of {@link HashedRequest}s into the events that an engine publishes.
 *
 * <p>Keeps the digest of each committed block, so that its removal can be published too.
 *
 * <p>Single writer.
 */
public final class EventRecorder implements CacheListener {

  private final Map<Long, Copies> committed = new HashMap<>();
  private final List<CacheEvent> events = new ArrayList<>();

  /** A digest and how many blocks, of all groups and tiers, are committed under it. */
  private static final class Copies {
    private final BlockHash hash;
    private int count;

    Copies(BlockHash hash) {
      this.hash = hash;
    }
  }

  /** The events since the last call. */
  public List<CacheEvent> takeEvents() {
    List<CacheEvent> taken = List.copyOf(events);
    events.clear();
    return taken;
  }

  @Override
  public void stored(
      CachedSequence sequence, CacheGroup group, int fromBlock, int toBlock, int heldFrom) {
    HashedRequest request = (HashedRequest) sequence;
    keep(request, heldFrom, toBlock);
    announce(StorageTier.GPU, request, group, fromBlock, toBlock, heldFrom);
  }

  /** Each block by itself, as connectors announce those that they can load alone. */
  @Override
  public void storedOnHost(CachedSequence sequence, CacheGroup group, int fromBlock, int toBlock) {
    HashedRequest request = (HashedRequest) sequence;
    keep(request, fromBlock, toBlock);
    for (int block = fromBlock; block < toBlock; block++) {
      announce(StorageTier.CPU, request, group, block, block + 1, block);
    }
  }

  @Override
  public void storedInStore(CachedSequence sequence, CacheGroup group, int block) {
    HashedRequest request = (HashedRequest) sequence;
    BlockHash parent = block == 0 ? null : request.hash(block - 1);
    int[] tokenIds = request.tokens(block, block + 1);
    events.add(new CacheEvent.Put(group, parent, request.hash(block), tokenIds));
  }

  private void keep(HashedRequest request, int fromBlock, int toBlock) {
    for (int block = fromBlock; block < toBlock; block++) {
      BlockHash hash = request.hash(block);
      committed.computeIfAbsent(hash.name(), name -> new Copies(hash)).count++;
    }
  }

  @Override
  public void removed(int group, long blockName) {
    events.add(new CacheEvent.Removed(group, drop(blockName)));
  }

  @Override
  public void removedFromHost(int group, long blockName) {
    events.add(new CacheEvent.Removed(StorageTier.CPU, group, drop(blockName)));
  }

  private BlockHash drop(long blockName) {
    Copies copies = committed.get(blockName);
    if (copies == null) {
      throw new IllegalStateException("never stored: " + Long.toHexString(blockName));
    }
    if (--copies.count == 0) {
      committed.remove(blockName);
    }
    return copies.hash;
  }

  @Override
  public void cleared() {
    committed.clear();
    events.add(new CacheEvent.Cleared());
  }

  private void announce(
      StorageTier tier,
      HashedRequest request,
      CacheGroup group,
      int fromBlock,
      int toBlock,
      int heldFrom) {
    PromptKeys keys = request.request().keys();
    List<BlockHash> hashes = new ArrayList<>(toBlock - heldFrom);
    List<List<ExtraKey>> extraKeys = new ArrayList<>(toBlock - heldFrom);
    for (int block = heldFrom; block < toBlock; block++) {
      hashes.add(request.hash(block));
      extraKeys.add(keys.of(block, group.blockSizeTokens()));
    }
    BlockHash parent = fromBlock == 0 ? null : request.hash(fromBlock - 1);
    int[] tokenIds = request.tokens(fromBlock, toBlock);
    events.add(
        new CacheEvent.Stored(tier, group, parent, hashes, tokenIds, extraKeys, keys.loraName()));
  }
}
