package dev.warmpath.router.console.prefix;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class HotPrefixesTest {

  private static final ChainSpace SPACE = new ChainSpace("m", 16, 0);

  private long nanos;
  private final HotPrefixes prefixes = new HotPrefixes(() -> nanos);

  /** A request and how much of it was reused. */
  private record Reuse(long[] hashes, int blocks) {

    boolean goesThrough(BlockChain prefix) {
      return blocks >= prefix.blocks()
          && LongStream.range(0, prefix.blocks())
              .allMatch(i -> prefix.localHash((int) i) == hashes[(int) i]);
    }
  }

  @Test
  void aSharedPrefixIsOneHoweverPromptsGoOn() {
    for (int i = 0; i < 100; i++) {
      add(5, 1, 2, 3, 4, 5, 1_000 + i);
    }
    HotPrefix only = prefixes.hottest(50).get(0);
    assertThat(prefixes.hottest(50)).hasSize(1);
    assertThat(only.tokens()).isEqualTo(80);
    assertThat(only.requests()).isEqualTo(100);
    assertThat(only.tokensSaved()).isEqualTo(8_000);
    assertThat(only.model()).isEqualTo("m");
  }

  @Test
  void theTurnsOfAConversationAreNotListedEach() {
    long[] talk = LongStream.rangeClosed(1, 200).toArray();
    for (int i = 0; i < 50; i++) {
      add(10, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 5_000 + i);
    }
    for (int turn = 1; turn <= 10; turn++) {
      prefixes.add("m", chain(talk), 10 + 10 * turn, null);
    }
    List<HotPrefix> two = prefixes.hottest(2);
    assertThat(two).extracting(HotPrefix::tokens).containsExactlyInAnyOrder(160, 60 * 16);
    HotPrefix talked = two.stream().filter(each -> each.tokens() > 160).findFirst().orElseThrow();
    assertThat(talked.requests()).isEqualTo(6);
  }

  @Test
  void modelsAndSizesOfBlocksShareNothing() {
    add(2, 1, 2, 3);
    prefixes.add(
        "m", BlockChain.ofLocalHashes(new ChainSpace("unknown yet", 16, 0), 1, 2, 3), 2, null);
    prefixes.add("other", chain(1, 2, 3), 2, null);
    prefixes.add("m", BlockChain.ofLocalHashes(new ChainSpace("m", 32, 0), 1, 2, 3), 2, null);
    assertThat(prefixes.hottest(50))
        .extracting(HotPrefix::requests)
        .containsExactlyInAnyOrder(2L, 1L, 1L);
  }

  /** All tokens that were saved are in the list once, and each prefix counts its requests. */
  @Property(tries = 200)
  void aListOfAllHasEachSavedTokenOnce(@ForAll long seed) {
    HotPrefixes prefixes = new HotPrefixes(() -> 0);
    Random random = new Random(seed);
    List<Reuse> all = new ArrayList<>();
    for (int i = 0; i < 60; i++) {
      long[] hashes = random.longs(8, 0, 2).toArray();
      Reuse reuse = new Reuse(hashes, random.nextInt(9));
      all.add(reuse);
      prefixes.add("m", chain(hashes), reuse.blocks(), null);
    }
    List<HotPrefix> listed = prefixes.hottest(1_000);
    assertThat(listed.stream().mapToLong(HotPrefix::tokensSaved).sum())
        .isEqualTo(16L * all.stream().mapToLong(Reuse::blocks).sum());
    for (HotPrefix prefix : listed) {
      assertThat(prefix.requests())
          .isEqualTo(all.stream().filter(each -> each.goesThrough(prefix.chain())).count());
    }
    assertThat(listed)
        .extracting(HotPrefix::tokensSaved)
        .isSortedAccordingTo((a, b) -> Long.compare(b, a));
    List<HotPrefix> few = prefixes.hottest(3);
    assertThat(few).hasSizeLessThanOrEqualTo(3);
    assertThat(few)
        .extracting(HotPrefix::id)
        .isEqualTo(listed.stream().limit(few.size()).map(HotPrefix::id).toList());
  }

  @Test
  void whatIsHotStaysAmongManyThatAreNot() {
    Random random = new Random(1);
    for (int i = 0; i < 20_000; i++) {
      prefixes.add("m", chain(random.longs(20).toArray()), 20, null);
      if (i % 50 == 0) {
        add(4, 1, 2, 3, 4, random.nextLong());
      }
      assertThat(prefixes.nodes()).isLessThanOrEqualTo(HotPrefixes.MOST_NODES);
    }
    HotPrefix hottest = prefixes.hottest(1).get(0);
    assertThat(hottest.tokens()).isEqualTo(64);
    assertThat(hottest.requests()).isEqualTo(400);
  }

  @Test
  void longPromptsAreBoundedInBlocks() {
    Random random = new Random(1);
    for (int i = 0; i < 40; i++) {
      prefixes.add("m", chain(random.longs(50_000).toArray()), 50_000, null);
    }
    assertThat(prefixes.nodes()).isLessThanOrEqualTo(10);
  }

  @Test
  void whatWasNotReusedForAnHourGoes() {
    add(3, 1, 2, 3, 4);
    nanos += TimeUnit.MINUTES.toNanos(40);
    add(2, 1, 2, 9, 9);
    nanos += TimeUnit.MINUTES.toNanos(40);
    prefixes.expire();
    assertThat(prefixes.hottest(5)).extracting(HotPrefix::tokens).containsExactly(32);
    nanos += TimeUnit.MINUTES.toNanos(40);
    prefixes.expire();
    assertThat(prefixes.nodes()).isZero();
  }

  @Test
  void tokensAreKeptAtBothEndsIfTheyAreGiven() {
    int[] ids = new int[80];
    Arrays.setAll(ids, i -> i);
    prefixes.add("m", chain(1, 2, 3, 4, 5), 4, ids);
    prefixes.add("m", chain(1, 2, 3, 8, 9), 3, ids);
    List<HotPrefix> two = prefixes.hottest(2);
    for (HotPrefix prefix : two) {
      HotPrefix.Ends ends = prefix.ends();
      assertThat(ends).isNotNull();
      assertThat(ends.first()).hasSize(32).startsWith(0, 1);
      assertThat(ends.last()).hasSize(32).endsWith(prefix.tokens() - 1);
    }
    add(1, 7, 7);
    assertThat(prefixes.hottest(9)).anyMatch(each -> each.ends() == null);
  }

  private void add(int reused, long... hashes) {
    prefixes.add("m", chain(hashes), reused, null);
  }

  private static BlockChain chain(long... hashes) {
    return BlockChain.ofLocalHashes(SPACE, hashes);
  }
}
