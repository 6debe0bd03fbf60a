package dev.warmpath.eventingest;

import dev.warmpath.eventingest.sglang.SglangNamespaces;
import dev.warmpath.eventingest.sglang.SglangRules;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.PromptKeys;
import org.jspecify.annotations.Nullable;

/**
 * How an engine's events are to be understood, beside what they say themselves.
 *
 * <p>Immutable.
 *
 * @param dialect whose rules they follow
 * @param droppedBlocks matched blocks that the engine computes again all the same: 1 for vLLM to
 *     0.32 with EAGLE or MTP, else 0
 * @param removals what the removal of a block means that was announced several times
 * @param maxBlocks how many blocks it can hold, in all tiers and groups; 0 if nobody knows
 * @param hiddenNamespaces whether requests that are not seen here may be in name spaces that the
 *     events do not show
 * @param sglang what else must be known of an SGLang engine
 */
public record EngineRules(
    EngineDialect dialect,
    int droppedBlocks,
    CopyCounting removals,
    long maxBlocks,
    boolean hiddenNamespaces,
    SglangRules sglang) {

  public EngineRules {
    if (droppedBlocks < 0 || maxBlocks < 0) {
      throw new IllegalArgumentException(
          "droppedBlocks=%d maxBlocks=%d".formatted(droppedBlocks, maxBlocks));
    }
  }

  /** Of an engine that is no SGLang, or one as usual. */
  public EngineRules(
      EngineDialect dialect,
      int droppedBlocks,
      CopyCounting removals,
      long maxBlocks,
      boolean hiddenNamespaces) {
    this(dialect, droppedBlocks, removals, maxBlocks, hiddenNamespaces, SglangRules.USUAL);
  }

  /** The same for an SGLang engine that was started so. */
  public EngineRules with(SglangRules other) {
    return new EngineRules(dialect, droppedBlocks, removals, maxBlocks, hiddenNamespaces, other);
  }

  /** Whether its events do not show in which name space a request's blocks are. */
  public boolean hides(PromptKeys keys, @Nullable String extraKey) {
    return (dialect.hidesKeys() && !keys.equals(PromptKeys.NONE))
        || (extraKey != null && hidesExtraKey(keys.loraName()));
  }

  /** The same of a request with an {@code extra_key} for this adapter, null for none. */
  public boolean hidesExtraKey(@Nullable String loraName) {
    return dialect == EngineDialect.SGLANG && !sglang.namespaces().shows(loraName);
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
  public SlowerHits slower(@Nullable ChainSpace space, int chunkBlocks) {
    if (dialect == EngineDialect.SGLANG) {
      return new SlowerHits(sglang.loadBackTokens(), 1);
    }
    return chunkBlocks == 1 || space == null
        ? SlowerHits.ALL
        : new SlowerHits(0, chunkBlocks * space.blockSizeTokens());
  }

  /** The usual ones of a dialect. */
  public static EngineRules of(EngineDialect dialect) {
    return new EngineRules(dialect, 0, dialect.removals(), 0, dialect.hidesNamespaces());
  }
}
