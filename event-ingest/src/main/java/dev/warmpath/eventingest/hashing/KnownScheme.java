package dev.warmpath.eventingest.hashing;

import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.kvindex.enginehash.EngineHasher;

/**
 * How an engine makes its hashes: a block that it announced had the hash that this gives.
 *
 * @param hasher gives the engine's hashes
 * @param keysKnown whether a block with extra keys had the hash too
 */
public record KnownScheme(EngineHasher hasher, boolean keysKnown) {

  /**
   * Whether the hashes of a prompt with these keys are known. Those of adapters never are: their
   * paths are hashed too.
   */
  public boolean covers(ChainSpace space, PromptKeys keys) {
    return keys.loraName() == null
        && ((keys.cacheSalt() == null && keys.items().isEmpty()) || keysKnown)
        && hasher.scheme().blockSizeTokens() == space.blockSizeTokens()
        && hasher.scheme().lookaheadTokens() == space.lookaheadTokens();
  }
}
