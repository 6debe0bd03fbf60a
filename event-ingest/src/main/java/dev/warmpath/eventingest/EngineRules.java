package dev.warmpath.eventingest;

import dev.warmpath.eventingest.hashing.SglangNamespaces;
import dev.warmpath.eventingest.hashing.SglangRules;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.block.ChainSpace;
import org.jspecify.annotations.Nullable;

/**
 * How an engine's events are to be understood, beside what they say themselves.
 *
 * @param dialect whose rules they follow
 * @param droppedBlocks matched blocks that the engine computes again all the same: 1 for vLLM to
 *     0.32 with EAGLE or MTP, else 0
 * @param removals what the removal of a block means that was announced several times
 * @param maxBlocks how many blocks it can hold, in all tiers and groups; 0 if nobody knows
 * @param sglang what else must be known of an SGLang engine
 * @param store the store that it reads with others, or that these events are of; null for none
 */
public record EngineRules(
    EngineDialect dialect,
    int droppedBlocks,
    CopyCounting removals,
    long maxBlocks,
    SglangRules sglang,
    @Nullable StoreRules store) {

  public EngineRules {
    if (droppedBlocks < 0 || maxBlocks < 0) {
      throw new IllegalArgumentException(
          "droppedBlocks=%d maxBlocks=%d".formatted(droppedBlocks, maxBlocks));
    }
  }

  /** Of an engine that is no SGLang, or one as usual. */
  public EngineRules(
      EngineDialect dialect, int droppedBlocks, CopyCounting removals, long maxBlocks) {
    this(dialect, droppedBlocks, removals, maxBlocks, SglangRules.USUAL, null);
  }

  /** The same for an SGLang engine that was started so. */
  public EngineRules with(SglangRules other) {
    return new EngineRules(dialect, droppedBlocks, removals, maxBlocks, other, store);
  }

  /** The same for an engine that reads a store with others, or for that store. */
  public EngineRules with(StoreRules other) {
    return new EngineRules(dialect, droppedBlocks, removals, maxBlocks, sglang, other);
  }

  /**
   * What to do if the engine reuses less than its events promise, because they do not show all name
   * spaces; null if they do.
   */
  public @Nullable String remedy() {
    return switch (dialect) {
      case VLLM -> null;
      case SGLANG ->
          sglang.namespaces().shows(null)
              ? null
              : "requests with an extra_key look like plain ones; start the engine with the event format dynamo and set event-format: dynamo";
      case TRTLLM ->
          "requests with an adapter or a cache_salt look like plain ones; send them to other engines";
    };
  }

  /** How its hashes show the name space of an {@code extra_key}; null if it has no such key. */
  public @Nullable SglangNamespaces namespaces() {
    return dialect == EngineDialect.SGLANG ? sglang.namespaces() : null;
  }

  /**
   * What the engine makes of a hit in slower memory.
   *
   * @param space of its block keys, null until it is known
   * @param chunkBlocks how many blocks its offload tiers give back together; 0 if that differs
   */
  public SlowTierReuse slowTier(@Nullable ChainSpace space, int chunkBlocks) {
    if (dialect == EngineDialect.SGLANG) {
      return new SlowTierReuse(sglang.loadBackTokens(), 1);
    }
    return chunkBlocks == 1 || space == null
        ? SlowTierReuse.ALL
        : new SlowTierReuse(0, chunkBlocks * space.blockSizeTokens());
  }

  /** The usual ones of a dialect. */
  public static EngineRules of(EngineDialect dialect) {
    return new EngineRules(dialect, 0, dialect.removals(), 0);
  }
}
