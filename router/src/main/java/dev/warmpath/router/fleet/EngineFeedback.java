package dev.warmpath.router.fleet;

import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.tokenizer.PromptResult;
import dev.warmpath.tokenizer.body.RequestNamespace;

/**
 * Who is told what engines say of their caches in their answers. Implementations are thread-safe,
 * fast and throw nothing.
 *
 * <p>Thread-safe.
 */
public interface EngineFeedback {

  /** Tells nobody. */
  EngineFeedback NONE = new EngineFeedback() {};

  /**
   * What an engine said of one prompt.
   *
   * <p>Immutable.
   *
   * @param prompt its blocks, in the engine's space
   * @param cachedTokens how many of its tokens the engine reused
   * @param predictedTokens how many the index had shown, or −1 if it was not believed
   * @param agoNanos how long ago the prompt was dispatched
   */
  record Reuse(BlockChain prompt, int cachedTokens, int predictedTokens, long agoNanos) {}

  /** An engine said how much of a prompt it reused. */
  default void reused(Replica replica, int dpRank, Reuse reuse) {}

  /**
   * A request is about to be sent there of whose prompt not all is known to be held.
   *
   * @param prompt its blocks, in the engine's space
   * @param tokens what it is made of
   */
  default void given(Replica replica, int dpRank, BlockChain prompt, PromptResult.Tokens tokens) {}

  /** A request that is about to be sent there makes the engine announce again what it holds. */
  default void reportAsked(Replica replica, int dpRank) {}

  /**
   * Whether a request that is about to be sent there, and of whose prompt not all is known to be
   * held, should do so; then {@link #reportAsked} needs not be said.
   */
  default boolean wantsReport(Replica replica, int dpRank) {
    return false;
  }

  /** Whether the replica's events leave out in which name space blocks are. */
  default boolean hides(Replica replica, RequestNamespace namespace) {
    return false;
  }

  /** A request is under way there whose name space the engine's events do not show. */
  default void hiddenBegan(Replica replica, int dpRank) {}

  /** One of those ended. */
  default void hiddenEnded(Replica replica, int dpRank) {}
}
