package dev.warmpath.router.fleet.engine;

import dev.warmpath.kvindex.block.BlockChain;
import org.jspecify.annotations.Nullable;

/**
 * What an engine holds for one request until it is over: load, expected blocks, and what its first
 * token will be judged by.
 *
 * <p>Confined to its engine's lock.
 */
public final class Reservation {

  private static final double NONE_YET = -1;

  final EngineLoad.Share share;
  final ExpectedBlocks.@Nullable Claim claim;
  final boolean alone;
  final boolean probe;
  final long sinceNanos;
  final @Nullable BlockChain chain;
  double firstTokenMillis = NONE_YET;
  boolean over;

  /**
   * @param claim the blocks expected because of it, null if its tokens are not known
   * @param alone whether no prompt was queued before it
   * @param probe whether it shows if a suspended engine answers again
   * @param sinceNanos when it was made
   * @param chain the prompt's blocks in the engine's space, null if its tokens are not known
   */
  Reservation(
      EngineLoad.Share share,
      ExpectedBlocks.@Nullable Claim claim,
      boolean alone,
      boolean probe,
      long sinceNanos,
      @Nullable BlockChain chain) {
    this.share = share;
    this.claim = claim;
    this.alone = alone;
    this.probe = probe;
    this.sinceNanos = sinceNanos;
    this.chain = chain;
  }

  /** The prompt's blocks in the engine's space, null if its tokens are not known. */
  public @Nullable BlockChain chain() {
    return chain;
  }

  /** When it was made. */
  public long sinceNanos() {
    return sinceNanos;
  }

  boolean hasFirstToken() {
    return firstTokenMillis != NONE_YET;
  }
}
