package dev.warmpath.simulator.bench.churn;

import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.CacheLayout;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.RemovedBlocks;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import java.util.ArrayDeque;
import java.util.List;
import java.util.SplittableRandom;

/**
 * An engine that stores prompts without end and evicts the oldest, last block first.
 *
 * <p>A prompt is a system prompt of its tenant, held for good, and blocks of its own, which no
 * other prompt has. Its hashes follow from its number, so nothing but numbers is kept. Single
 * writer.
 */
final class ChurnEngine {

  static final ChainSpace SPACE = new ChainSpace("churn", 16, 0);

  private static final int TENANTS = 8;
  private static final int SHARED_BLOCKS = 32;

  /** Tokens that all prompts of a tenant have in common. */
  static final int SHARED_TOKENS = 16 * SHARED_BLOCKS;

  private static final long SHARED = 1L << 50;

  private record Prompt(long number, int blocks) {}

  private final KvIndex index;
  private final int slot;
  private final int capacityBlocks;
  private final SplittableRandom random;
  private final ArrayDeque<Prompt> held = new ArrayDeque<>();
  private final StoredBlocks stored = new StoredBlocks();
  private final RemovedBlocks removed = new RemovedBlocks();
  private long next;
  private int heldBlocks;

  ChurnEngine(KvIndex index, int number, int capacityBlocks, SplittableRandom random) {
    this.index = index;
    this.capacityBlocks = capacityBlocks;
    this.random = random;
    next = (long) number << 40;
    slot = index.addEngine(CopyCounting.PER_COPY);
    CacheGroup group = new CacheGroup(0, CacheGroup.Kind.FULL_ATTENTION, 16, 0);
    index.layout(slot, new CacheLayout(List.of(group), 0, 0));
    for (int tenant = 0; tenant < TENANTS; tenant++) {
      stored.atRoot(StorageTier.GPU, 0, SPACE.rootKey());
      add(SHARED + tenant, SHARED_BLOCKS);
      index.stored(slot, stored);
    }
  }

  /** Stores one prompt and evicts what no longer fits; returns the blocks of both. */
  long step() {
    Prompt prompt = new Prompt(next++, 8 + random.nextInt(120));
    long tenant = SHARED + prompt.number() % TENANTS;
    stored.behind(StorageTier.GPU, 0, engineHash(tenant, SHARED_BLOCKS - 1));
    add(prompt.number(), prompt.blocks());
    index.stored(slot, stored);
    held.add(prompt);
    heldBlocks += prompt.blocks();
    long blocks = prompt.blocks();
    while (heldBlocks > capacityBlocks) {
      blocks += evict(held.remove());
    }
    return blocks;
  }

  /** A prompt that was stored lately, as a query. */
  BlockChain recent() {
    Prompt prompt = held.getLast();
    long[] hashes = new long[SHARED_BLOCKS + prompt.blocks()];
    for (int i = 0; i < hashes.length; i++) {
      hashes[i] =
          i < SHARED_BLOCKS
              ? localHash(SHARED + prompt.number() % TENANTS, i)
              : localHash(prompt.number(), i - SHARED_BLOCKS);
    }
    return BlockChain.ofLocalHashes(SPACE, hashes);
  }

  int slot() {
    return slot;
  }

  private int evict(Prompt prompt) {
    removed.from(StorageTier.GPU, 0);
    for (int i = prompt.blocks() - 1; i >= 0; i--) {
      removed.add(engineHash(prompt.number(), i));
    }
    index.removed(slot, removed);
    heldBlocks -= prompt.blocks();
    return prompt.blocks();
  }

  private void add(long number, int blocks) {
    for (int i = 0; i < blocks; i++) {
      stored.add(engineHash(number, i), localHash(number, i));
    }
  }

  private static long engineHash(long number, int block) {
    return mix(((number << 8) | block) * 2);
  }

  private static long localHash(long number, int block) {
    return mix(((number << 8) | block) * 2 + 1);
  }

  private static long mix(long value) {
    long mixed = (value ^ (value >>> 30)) * 0xBF58476D1CE4E5B9L;
    mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
    return mixed ^ (mixed >>> 31);
  }
}
