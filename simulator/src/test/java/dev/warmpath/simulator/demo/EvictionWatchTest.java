package dev.warmpath.simulator.demo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.EngineView;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.CacheGroup.Kind;
import dev.warmpath.kvindex.CacheLayout;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.RemovedBlocks;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.runs.RunKvIndex;
import dev.warmpath.router.dispatch.EngineChain;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Two engines that hold a prompt of six blocks; engine b has two ranks, of which one holds it. */
final class EvictionWatchTest {

  private static final ChainSpace SPACE = new ChainSpace("m", 16, 0);
  private static final BlockChain PROMPT =
      BlockChain.ofLocalHashes(SPACE, 101, 102, 103, 104, 105, 106);
  private static final BlockChain OTHER = BlockChain.ofLocalHashes(SPACE, 101, 202);

  private final EvictionWatch watch = new EvictionWatch();
  private final KvIndex index = watch.apply(new RunKvIndex(IndexLimits.unbounded(100)));
  private final List<EngineChain> chains = new ArrayList<>();
  private final int a = engine("a");
  private final int b0 = engine("b");
  private final int b1 = engine("b");

  @Test
  void blockThatIsStoredAgainAtOnceWasEvictedAllTheSame() throws Exception {
    store(a, PROMPT);
    try (EvictionWatch.Prompt prompt = watch.watch(chains)) {
      remove(a, 106, 105);
      remove(a, 104);
      store(a, PROMPT);

      assertThat(fell(prompt, "a", 48)).isTrue();
      assertThat(fell(prompt, "a", 47)).as("block 103 was held all the time").isFalse();
      assertThat(fell(prompt, "b", 95)).isFalse();
    }
  }

  @Test
  void whatIsNoPartOfThePromptMayGo() throws Exception {
    store(a, PROMPT);
    store(a, OTHER);
    try (EvictionWatch.Prompt prompt = watch.watch(chains)) {
      remove(a, 202);

      assertThat(fell(prompt, "a", 95)).isFalse();
    }
  }

  @Test
  void rankThatNeverHeldThePromptHasLostNothingOfIt() throws Exception {
    store(b0, PROMPT);
    store(b1, OTHER);
    try (EvictionWatch.Prompt prompt = watch.watch(chains)) {
      remove(b1, 202);
      assertThat(fell(prompt, "b", 95)).isFalse();

      index.cleared(b0);
      assertThat(fell(prompt, "b", 0)).isTrue();
    }
  }

  private static boolean fell(EvictionWatch.Prompt prompt, String replica, int tokens)
      throws InterruptedException {
    return prompt.fellTo(replica, tokens, Duration.ZERO);
  }

  private int engine(String replica) {
    int slot = index.addEngine(CopyCounting.PER_COPY);
    CacheGroup group = new CacheGroup(0, Kind.FULL_ATTENTION, SPACE.blockSizeTokens(), 0);
    index.layout(slot, new CacheLayout(List.of(group), 0, 0));
    chains.add(new EngineChain(replica, new EngineView(slot, SPACE, Trust.EXACT), PROMPT));
    return slot;
  }

  private void store(int slot, BlockChain chain) {
    StoredBlocks stored = new StoredBlocks().atRoot(StorageTier.GPU, 0, SPACE.rootKey());
    for (int i = 0; i < chain.blocks(); i++) {
      stored.add(chain.localHash(i), chain.localHash(i));
    }
    index.stored(slot, stored);
  }

  private void remove(int slot, long... hashes) {
    RemovedBlocks removed = new RemovedBlocks().from(StorageTier.GPU, 0);
    for (long hash : hashes) {
      removed.add(hash);
    }
    index.removed(slot, removed);
  }
}
