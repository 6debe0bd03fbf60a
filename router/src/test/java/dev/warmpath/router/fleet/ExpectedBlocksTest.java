package dev.warmpath.router.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.PromptKeys;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.From;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

class ExpectedBlocksTest {

  private static final ChainSpace SPACE = new ChainSpace("m", 4, 0);

  private final ExpectedBlocks expected = new ExpectedBlocks(new ExpectedBlocks.Limits(8, 100, 10));
  private final BlockChain prompt = chain(0, 16);

  @Test
  void whatWasSentIsExpected() {
    expected.claim(prompt, 0, 0);
    assertThat(expected.depth(prompt, 0, 0)).isEqualTo(4);
    assertThat(expected.depth(chain(0, 9), 0, 0)).isEqualTo(2);
    assertThat(expected.depth(chain(1, 16), 0, 0)).isZero();
  }

  @Test
  void continuesWhatIsHeld() {
    expected.claim(prompt, 2, 0);
    assertThat(expected.depth(prompt, 2, 0)).isEqualTo(4);
    assertThat(expected.depth(prompt, 0, 0)).isZero();
    assertThat(expected.depth(prompt, 1, 0)).isEqualTo(1);
  }

  @Test
  void aConfirmedBlockIsExpectedNoMore() {
    ClaimTable.Claim first = expected.claim(prompt, 0, 0);
    expected.claim(prompt, 3, 1);
    assertThat(expected.depth(prompt, 0, 1)).isZero();
    assertThat(counts(1)).isEqualTo(new ExpectedBlocks.Counts(2, 3, 0, 0, 0));
    expected.cancel(first);
    assertThat(expected.depth(prompt, 3, 1)).isEqualTo(4);
  }

  @Test
  void timeEndsExpectation() {
    expected.claim(prompt, 0, 0);
    assertThat(expected.depth(prompt, 0, 99)).isEqualTo(4);
    assertThat(expected.depth(prompt, 0, 100)).isZero();
    assertThat(counts(100)).isEqualTo(new ExpectedBlocks.Counts(0, 0, 4, 0, 0));
  }

  @Test
  void aSecondRequestKeepsBlocksLonger() {
    expected.claim(prompt, 0, 0);
    expected.claim(chain(0, 8), 0, 50);
    assertThat(expected.depth(prompt, 0, 120)).isEqualTo(2);
  }

  @Test
  void theClockMayWrapAround() {
    long late = Long.MAX_VALUE - 50;
    expected.claim(prompt, 0, late);
    assertThat(expected.depth(prompt, 0, late + 99)).isEqualTo(4);
    assertThat(expected.depth(prompt, 0, late + 100)).isZero();
  }

  @Test
  void failureCancelsWhatNobodyElseBrings() {
    ClaimTable.Claim shorter = expected.claim(chain(0, 8), 0, 0);
    ClaimTable.Claim longer = expected.claim(prompt, 0, 0);
    expected.cancel(longer);
    assertThat(expected.depth(prompt, 0, 0)).isEqualTo(2);
    expected.cancel(shorter);
    assertThat(expected.depth(prompt, 0, 0)).isZero();
    assertThat(counts(0)).isEqualTo(new ExpectedBlocks.Counts(0, 0, 0, 6, 0));
  }

  @Test
  void successLeavesTimeForTheEvents() {
    ClaimTable.Claim claim = expected.claim(prompt, 0, 0);
    expected.settle(claim, 40);
    assertThat(expected.depth(prompt, 0, 49)).isEqualTo(4);
    assertThat(expected.depth(prompt, 0, 50)).isZero();
  }

  @Test
  void successOfOneLeavesTheOthersTheirTime() {
    ClaimTable.Claim claim = expected.claim(prompt, 0, 0);
    expected.claim(prompt, 0, 5);
    expected.settle(claim, 40);
    assertThat(expected.depth(prompt, 0, 104)).isEqualTo(4);
  }

  @Test
  void anOldClaimDoesNotTouchANewBlockOfTheSameKey() {
    ClaimTable.Claim old = expected.claim(prompt, 0, 0);
    expected.claim(prompt, 4, 1);
    expected.claim(prompt, 0, 2);
    expected.cancel(old);
    assertThat(expected.depth(prompt, 0, 2)).isEqualTo(4);
  }

  @Test
  void theOldestGiveWay() {
    expected.claim(prompt, 0, 0);
    expected.claim(chain(1, 20), 0, 1);
    assertThat(counts(1)).isEqualTo(new ExpectedBlocks.Counts(5, 0, 0, 0, 4));
    assertThat(expected.depth(prompt, 0, 1)).isZero();
    assertThat(expected.depth(chain(1, 20), 0, 1)).isEqualTo(5);
  }

  @Test
  void ofAPromptThatIsTooLongTheBeginningIsExpected() {
    BlockChain endless = chain(0, 400);
    ClaimTable.Claim claim = expected.claim(endless, 0, 0);
    assertThat(counts(0)).isEqualTo(new ExpectedBlocks.Counts(8, 0, 0, 0, 92));
    assertThat(expected.depth(endless, 0, 0)).isEqualTo(8);
    expected.cancel(claim);
    assertThat(counts(0)).isEqualTo(new ExpectedBlocks.Counts(0, 0, 0, 8, 92));
  }

  @Test
  void claimsContinueEachOther() {
    expected.claim(prompt, 2, 0);
    expected.claim(chain(0, 8), 0, 0);
    assertThat(expected.depth(prompt, 0, 0)).isEqualTo(4);
  }

  @Test
  void costsTheSameForAPromptOfAnyLength() {
    ExpectedBlocks roomy = new ExpectedBlocks(ExpectedBlocks.Limits.DEFAULT);
    BlockChain million = chain(0, 250_000);
    BlockChain sibling = chain(0, 250_000);
    assertThat(million.sharedBlocks(sibling)).isEqualTo(62_500);
    com.sun.management.ThreadMXBean threads =
        (com.sun.management.ThreadMXBean) java.lang.management.ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    ClaimTable.Claim claim = roomy.claim(million, 0, 0);
    int depth = roomy.depth(sibling, 0, 0);
    roomy.settle(claim, 0);
    roomy.cancel(claim);
    long allocated = threads.getCurrentThreadAllocatedBytes() - before;
    assertThat(depth).isEqualTo(62_500);
    assertThat(allocated).as("bytes, for 62,500 blocks").isLessThan(62_500);
  }

  /** A chain that leaves what all share after some blocks, and how much of it is held. */
  private record Sent(int forkedAt, int blocks, int held) {

    BlockChain chain() {
      int[] ids =
          IntStream.range(0, 4 * blocks)
              .map(i -> i < 4 * forkedAt ? i : 1000 * forkedAt + 1000 + i)
              .toArray();
      return BlockChain.of(SPACE, ids, PromptKeys.NONE);
    }
  }

  /** Any claims, compared with a model that knows every block of each. */
  @Property
  void depthIsThatOfTheBlocks(@ForAll List<@From("sent") Sent> made, @ForAll("sent") Sent asked) {
    ExpectedBlocks roomy = new ExpectedBlocks(ExpectedBlocks.Limits.DEFAULT);
    Set<Long> model = new HashSet<>();
    for (Sent sent : made) {
      BlockChain chain = sent.chain();
      int held = Math.min(sent.held(), chain.blocks());
      IntStream.range(0, held).forEach(i -> model.remove(chain.blockKey(i)));
      IntStream.range(held, chain.blocks()).forEach(i -> model.add(chain.blockKey(i)));
      roomy.claim(chain, held, 0);
    }
    BlockChain chain = asked.chain();
    int held = Math.min(asked.held(), chain.blocks());
    int depth = held;
    while (depth < chain.blocks() && model.contains(chain.blockKey(depth))) {
      depth++;
    }
    assertThat(roomy.depth(chain, held, 0)).isEqualTo(depth);
  }

  @Provide
  Arbitrary<Sent> sent() {
    Arbitrary<Integer> small = Arbitraries.integers().between(0, 12);
    return Combinators.combine(small, small, small).as(Sent::new);
  }

  private ExpectedBlocks.Counts counts(long nowNanos) {
    return expected.counts(nowNanos);
  }

  private static BlockChain chain(int first, int tokens) {
    int[] ids = IntStream.range(0, tokens).map(i -> 1000 * first + i).toArray();
    return BlockChain.of(SPACE, ids, PromptKeys.NONE);
  }
}
