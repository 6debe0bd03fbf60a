package dev.warmpath.eventingest.hashing;

import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.kvindex.enginehash.EngineHasher;

/** The blocks of a prompt with the hashes that an engine gives to them. */
public final class HashedPrompt {

  private final KnownScheme scheme;
  private final BlockChain chain;
  private final long[] hashes;

  private HashedPrompt(KnownScheme scheme, BlockChain chain, long[] hashes) {
    this.scheme = scheme;
    this.chain = chain;
    this.hashes = hashes;
  }

  /**
   * Hashes the blocks of a prompt.
   *
   * @param chain the prompt's blocks, in a space that the scheme {@linkplain KnownScheme#covers
   *     covers}
   */
  public static HashedPrompt of(
      KnownScheme scheme, BlockChain chain, int[] tokenIds, PromptKeys keys) {
    EngineHasher hasher = scheme.hasher();
    int size = chain.space().blockSizeTokens();
    long[] hashes = new long[chain.blocks()];
    byte[] parent = hasher.rootHash();
    for (int i = 0; i < hashes.length; i++) {
      parent = hasher.hash(parent, tokenIds, i * size, keys.of(i, size));
      hashes[i] = EngineHasher.low64(parent);
    }
    return new HashedPrompt(scheme, chain, hashes);
  }

  /** The prompt's blocks, in the engine's space. */
  public BlockChain chain() {
    return chain;
  }

  /** Whether this is still how the engine makes its hashes. */
  public boolean isBy(KnownScheme known) {
    return scheme.hasher() == known.hasher();
  }

  /** Writes all blocks, of a group on the GPU, into {@code blocks}, which is returned. */
  public StoredBlocks names(StoredBlocks blocks, int group) {
    blocks.atRoot(StorageTier.GPU, group, chain.space().rootKey());
    for (int i = 0; i < hashes.length; i++) {
      blocks.add(hashes[i], chain.localHash(i));
    }
    return blocks;
  }
}
