package dev.warmpath.router.fleet;

import dev.warmpath.kvindex.block.BlockChain;
import org.jspecify.annotations.Nullable;

/**
 * A prefix from which prompts of different sessions went on.
 *
 * <p>Immutable.
 *
 * @param model as requests named it, or null
 * @param chain its blocks, as of a prompt that goes on behind them, in a space of that model
 * @param tokenIds its tokens, not to be changed; null if they are not kept
 * @param newTokens of these, which no prefix has that is more wanted
 * @param demand how many requests of the last ten minutes or so began with it, the older the less
 */
@SuppressWarnings("ArrayRecordComponent") // a prefix has a megabyte of them
public record SharedPrefix(
    @Nullable String model,
    BlockChain chain,
    int @Nullable [] tokenIds,
    long newTokens,
    double demand) {

  /** The same, for who only wants to know which it is. */
  public SharedPrefix withoutTokens() {
    return new SharedPrefix(model, chain, null, newTokens, demand);
  }
}
