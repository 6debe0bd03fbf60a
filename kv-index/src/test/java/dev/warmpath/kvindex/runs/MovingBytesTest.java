package dev.warmpath.kvindex.runs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.CacheGroup.Kind;
import dev.warmpath.kvindex.CacheLayout;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** What is asked for all the time is answered right while its bytes are moved elsewhere. */
class MovingBytesTest {

  private static final ChainSpace SPACE = new ChainSpace("m", 1, 0);
  private static final int ENGINES = 100;
  private static final int PROMPTS_A_PHASE = 2_500;
  private static final int PHASES = 4;
  private static final int HOT_PROMPTS = 50;
  private static final int HOT_BLOCKS = 150;
  private static final int HOLDERS = 3;
  private static final int READERS = 2;

  private final RunKvIndex index = new RunKvIndex(new IndexLimits(100, 6_000_000), 1);
  private final StoredBlocks stored = new StoredBlocks();
  private final List<BlockChain> hot = new ArrayList<>();
  private final CountDownLatch reading = new CountDownLatch(READERS);

  @Test
  void readersSeeAllOfThePromptsThatNeverGo() throws Exception {
    CacheGroup full = new CacheGroup(0, Kind.FULL_ATTENTION, 1, 0);
    for (int slot = 0; slot < ENGINES; slot++) {
      index.addEngine(CopyCounting.PRESENCE);
      index.layout(slot, new CacheLayout(List.of(full), 0, 0));
    }
    for (int prompt = 0; prompt < HOT_PROMPTS; prompt++) {
      churn(PROMPTS_A_PHASE * prompt / HOT_PROMPTS, PROMPTS_A_PHASE * (prompt + 1) / HOT_PROMPTS);
      addHot(-1_000L * prompt);
    }
    AtomicBoolean done = new AtomicBoolean();
    ExecutorService readers = Executors.newFixedThreadPool(READERS);
    List<Future<Long>> reads = new ArrayList<>();
    for (int i = 0; i < READERS; i++) {
      reads.add(readers.submit(() -> read(done)));
    }
    churn(PROMPTS_A_PHASE, PHASES * PROMPTS_A_PHASE);
    while (reading.getCount() > 0 && reads.stream().noneMatch(Future::isDone)) {
      churn(0, PHASES * PROMPTS_A_PHASE); // until each reader has had its turn
    }
    done.set(true);
    for (Future<Long> read : reads) {
      assertThat(read.get()).isPositive();
    }
    readers.shutdown();
    Invariants.check(index);
    assertThat(index.evictedBlocks()).isPositive();
  }

  private void addHot(long first) {
    for (int slot = 0; slot < HOLDERS; slot++) {
      index.stored(slot, prompt(first, HOT_BLOCKS));
    }
    long[] localHashes = LongStream.range(first, first + HOT_BLOCKS).toArray();
    hot.add(BlockChain.ofLocalHashes(SPACE, localHashes));
  }

  /** Few holders of many prompts, then many of few, and again: all kinds of arrays come and go. */
  private void churn(int from, int to) {
    PrefixMatches matches = new PrefixMatches();
    for (int prompt = from; prompt < to; prompt++) {
      int holders = prompt / PROMPTS_A_PHASE % 2 == 0 ? 1 : 30;
      for (int holder = 0; holder < holders; holder++) {
        index.stored((prompt + holder) % ENGINES, prompt((prompt + 1) * 1_000L, 64));
      }
      if (!hot.isEmpty()) {
        index.match(hot.get(prompt % hot.size()), matches);
      }
    }
  }

  /** Returns how many queries were answered. */
  private long read(AtomicBoolean done) {
    PrefixMatches matches = new PrefixMatches();
    long reads = 0;
    for (int query = 0; !done.get(); query++) {
      long unanswered = index.unansweredQueries();
      index.match(hot.get(query % HOT_PROMPTS), matches);
      if (index.unansweredQueries() == unanswered) {
        for (int slot = 0; slot < HOLDERS; slot++) {
          assertThat(matches.tokens(slot)).isEqualTo(HOT_BLOCKS);
        }
        if (reads++ == 0) {
          reading.countDown();
        }
      }
    }
    return reads;
  }

  private StoredBlocks prompt(long first, int blocks) {
    stored.atRoot(StorageTier.GPU, 0, SPACE.rootKey());
    for (int block = 0; block < blocks; block++) {
      stored.add(first + block, first + block);
    }
    return stored;
  }
}
