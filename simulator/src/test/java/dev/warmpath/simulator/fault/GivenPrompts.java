package dev.warmpath.simulator.fault;

import dev.warmpath.eventingest.apply.EventApplier;
import dev.warmpath.eventingest.hashing.KnownScheme;
import dev.warmpath.eventingest.hashing.PromptHasher.HashedPrompt;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.kvindex.enginehash.EngineHasher;
import dev.warmpath.kvindex.enginehash.HashAlgorithm;
import dev.warmpath.kvindex.enginehash.HashScheme;
import dev.warmpath.kvindex.enginehash.HashScheme.HashedKeys;

/** What is made of the prompts that an engine is given. Immutable. */
enum GivenPrompts {
  /** Nothing. */
  NOT_HASHED {
    @Override
    void given(EventApplier applier, int[] prompt, PromptKeys keys) {}
  },

  HASHED {
    @Override
    void given(EventApplier applier, int[] prompt, PromptKeys keys) {
      KnownScheme scheme = applier.wanted();
      ChainSpace space = applier.space();
      if (scheme != null && space != null && scheme.covers(space, keys)) {
        BlockChain chain = BlockChain.of(space, prompt, keys);
        applier.computed(HashedPrompt.of(scheme, chain, prompt, keys));
      }
    }
  },

  /** Wrong: an adapter's names get the hashes of plain blocks. */
  HASHED_WITHOUT_KEYS {
    @Override
    void given(EventApplier applier, int[] prompt, PromptKeys keys) {
      KnownScheme scheme = applier.wanted();
      ChainSpace space = applier.space();
      if (scheme != null && space != null) {
        BlockChain chain = BlockChain.of(space, prompt, new PromptKeys("en", null));
        applier.computed(HashedPrompt.of(scheme, chain, prompt, PromptKeys.NONE));
      }
    }
  },

  /** Wrong: as another engine would. */
  HASHED_OTHERWISE {
    @Override
    void given(EventApplier applier, int[] prompt, PromptKeys keys) {
      ChainSpace space = applier.space();
      if (space != null) {
        HashScheme other =
            new HashScheme(
                HashAlgorithm.SHA256, "0", HashedKeys.TAGGED, space.blockSizeTokens(), 0);
        KnownScheme scheme = new KnownScheme(new EngineHasher(other, name -> name), true);
        BlockChain chain = BlockChain.of(space, prompt, keys);
        applier.computed(HashedPrompt.of(scheme, chain, prompt, keys));
      }
    }
  };

  /** The engine is about to be given a prompt. */
  abstract void given(EventApplier applier, int[] prompt, PromptKeys keys);
}
