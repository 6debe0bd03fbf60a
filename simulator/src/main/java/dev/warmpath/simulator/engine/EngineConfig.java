package dev.warmpath.simulator.engine;

/**
 * One engine's limits and speed.
 *
 * @param stepTokens tokens that one step computes at most ({@code max_num_batched_tokens})
 * @param runningSequences sequences that run at once ({@code max_num_seqs})
 * @param maxModelTokens longest prompt and answer together ({@code max_model_len})
 * @param loadPath from host memory
 */
public record EngineConfig(
    KvCacheConfig cache,
    int stepTokens,
    int runningSequences,
    int maxModelTokens,
    CostModel cost,
    Link loadPath) {

  public EngineConfig {
    if (stepTokens < 1 || runningSequences < 1 || maxModelTokens < 2) {
      throw new IllegalArgumentException(
          "stepTokens=%d runningSequences=%d maxModelTokens=%d"
              .formatted(stepTokens, runningSequences, maxModelTokens));
    }
    if (maxModelTokens > cache.maxSequenceTokens()) {
      throw new IllegalArgumentException(
          "maxModelTokens=%d does not fit the cache of %d tokens"
              .formatted(maxModelTokens, cache.maxSequenceTokens()));
    }
  }

  /** One that loads over {@link Link#PCIE}. */
  public EngineConfig(
      KvCacheConfig cache,
      int stepTokens,
      int runningSequences,
      int maxModelTokens,
      CostModel cost) {
    this(cache, stepTokens, runningSequences, maxModelTokens, cost, Link.PCIE);
  }

  /** The same with another cache. */
  public EngineConfig with(KvCacheConfig other) {
    return new EngineConfig(other, stepTokens, runningSequences, maxModelTokens, cost, loadPath);
  }

  /** The same with another speed. */
  public EngineConfig with(CostModel other) {
    return new EngineConfig(cache, stepTokens, runningSequences, maxModelTokens, other, loadPath);
  }

  /** The same with another way from host memory. */
  public EngineConfig with(Link other) {
    return new EngineConfig(cache, stepTokens, runningSequences, maxModelTokens, cost, other);
  }
}
