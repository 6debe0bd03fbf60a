package dev.warmpath.eventingest.hashing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.hashing.PromptHasher.HashedPrompt;
import dev.warmpath.eventingest.hashing.PromptHasher.Order;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.kvindex.enginehash.EngineHasher;
import dev.warmpath.kvindex.enginehash.HashAlgorithm;
import dev.warmpath.kvindex.enginehash.HashScheme;
import dev.warmpath.kvindex.enginehash.HashScheme.HashedKeys;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

final class PromptHasherTest {

  private static final KnownScheme SCHEME =
      new KnownScheme(
          new EngineHasher(
              new HashScheme(HashAlgorithm.SHA256_CBOR, "0", HashedKeys.TAGGED, 2, 0),
              name -> name),
          false);

  private final AtomicLong nanos = new AtomicLong();

  @Test
  void hashesBlocksAsTheEngineDoes() {
    try (PromptHasher hasher = new PromptHasher(nanos::get)) {
      int[] tokens = {1, 2, 3, 4, 5};
      CompletableFuture<HashedPrompt> hashed = new CompletableFuture<>();
      assertThat(hasher.hash(order(tokens), hashed::complete)).isTrue();
      HashedPrompt prompt = hashed.orTimeout(10, TimeUnit.SECONDS).join();

      StoredBlocks names = prompt.names(new StoredBlocks(), 3);
      EngineHasher engine = SCHEME.hasher();
      byte[] first = engine.hash(engine.rootHash(), tokens, 0, PromptKeys.NONE.of(0, 2));
      assertThat(names.count()).isEqualTo(2);
      assertThat(names.group()).isEqualTo(3);
      assertThat(names.parent()).isEqualTo(prompt.chain().space().rootKey());
      assertThat(names.engineHash(0)).isEqualTo(EngineHasher.low64(first));
      assertThat(names.engineHash(1))
          .isEqualTo(EngineHasher.low64(engine.hash(first, tokens, 2, PromptKeys.NONE.of(1, 2))));
      assertThat(names.localHash(1)).isEqualTo(prompt.chain().localHash(1));
    }
  }

  @Test
  void refusesMoreBlocksThanASecondMayHave() {
    try (PromptHasher hasher = new PromptHasher(nanos::get)) {
      Order half = order(new int[PromptHasher.BLOCKS_A_SECOND]);
      assertThat(hasher.hash(half, prompt -> {})).isTrue();
      assertThat(hasher.hash(half, prompt -> {})).isTrue();
      assertThat(hasher.hash(half, prompt -> {})).isFalse();
      nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(499));
      assertThat(hasher.hash(half, prompt -> {})).isFalse();
      nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(1));
      assertThat(hasher.hash(half, prompt -> {})).isTrue();
    }
  }

  @Test
  void refusesEverythingOnceClosed() {
    PromptHasher hasher = new PromptHasher(nanos::get);
    hasher.close();
    assertThat(hasher.hash(order(new int[4]), prompt -> {})).isFalse();
  }

  private static Order order(int[] tokens) {
    BlockChain chain = BlockChain.of(new ChainSpace("m", 2, 0), tokens, PromptKeys.NONE);
    return new Order(SCHEME, chain, tokens, PromptKeys.NONE);
  }
}
