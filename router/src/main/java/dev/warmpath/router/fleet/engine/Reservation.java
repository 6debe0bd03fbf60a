package dev.warmpath.router.fleet.engine;

import dev.warmpath.kvindex.block.BlockChain;
import org.jspecify.annotations.Nullable;

/**
 * What an engine holds for one request until it is over: load and expected blocks.
 *
 * <p>Confined to its engine's lock.
 */
public final class Reservation {

  final EngineLoad.Share share;
  final ClaimTable.@Nullable Claim claim;
  final boolean probe;
  final long sinceNanos;
  final @Nullable BlockChain chain;
  boolean answered;
  boolean firstToken;
  boolean over;

  /**
   * @param claim the blocks expected because of it, null if its tokens are not known
   * @param probe whether this is the trial request of an ejected engine
   * @param sinceNanos when it was made
   * @param chain the prompt's blocks in the engine's space, null if its tokens are not known
   */
  Reservation(
      EngineLoad.Share share,
      ClaimTable.@Nullable Claim claim,
      boolean probe,
      long sinceNanos,
      @Nullable BlockChain chain) {
    this.share = share;
    this.claim = claim;
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
}
