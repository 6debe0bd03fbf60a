package dev.warmpath.router.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.router.fleet.HotPrefixes.Shared;
import dev.warmpath.tokenizer.encode.EncodedText;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.ToIntFunction;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.jspecify.annotations.Nullable;
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
      prefixes.add("m", chain(talk), 10 + 10 * turn, null, 0);
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
        "m", BlockChain.ofLocalHashes(new ChainSpace("unknown yet", 16, 0), 1, 2, 3), 2, null, 0);
    prefixes.add("other", chain(1, 2, 3), 2, null, 0);
    prefixes.add("m", BlockChain.ofLocalHashes(new ChainSpace("m", 32, 0), 1, 2, 3), 2, null, 0);
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
      prefixes.add("m", chain(hashes), reuse.blocks(), null, 0);
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
      prefixes.add("m", chain(random.longs(20).toArray()), 20, null, 0);
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
      prefixes.add("m", chain(random.longs(50_000).toArray()), 50_000, null, 0);
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
    EncodedText tokens = new EncodedText(ids);
    prefixes.keepEnds(true);
    prefixes.add("m", chain(1, 2, 3, 4, 5), 4, tokens, 0);
    prefixes.add("m", chain(1, 2, 3, 8, 9), 3, tokens, 0);
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

  @Test
  void whatSessionsShareIsWantedAndNotTheirTurns() {
    for (int session = 0; session < 5; session++) {
      long[] talk = LongStream.rangeClosed(1, 60).toArray();
      Arrays.fill(talk, 4, 60, 100 + session);
      add(4, talk);
      for (int turn = 1; turn <= 5; turn++) {
        add(4 + 10 * turn, talk);
      }
    }
    SharedPrefix only = shared(1_000_000).get(0);
    assertThat(shared(1_000_000)).hasSize(1);
    assertThat(only.chain().blocks()).isEqualTo(4);
    assertThat(only.demand()).isEqualTo(5);
    assertThat(only.newTokens()).isEqualTo(64);
    assertThat(only.model()).isEqualTo("m");
  }

  @Test
  void oneThatOnlyOneSessionGoesOnFromIsNotWanted() {
    add(4, 1, 2, 3, 4, 9, 9, 9);
    add(4, 1, 2, 3, 4, 9, 9, 9);
    add(6, 1, 2, 3, 4, 9, 9, 9);
    add(2, 1, 2, 3, 4, 9, 9, 9); // the rest was evicted
    assertThat(shared(1_000_000)).isEmpty();
    add(3, 1, 2, 3, 8);
    assertThat(shared(1_000_000)).extracting(each -> each.chain().blocks()).containsExactly(3);
  }

  @Test
  void onePromptAskedAgainIsWanted() {
    add(2, 1, 2);
    assertThat(shared(1_000)).isEmpty();
    add(2, 1, 2);
    assertThat(shared(1_000)).hasSize(1);
  }

  @Test
  void theMostWantedComeFirstAndHoldWhatTheyShareOnce() {
    for (int i = 0; i < 30; i++) {
      add(4, 1, 2, 3, 4, 1_000 + i); // all
      add(i % 3 == 0 ? 8 : 4, 1, 2, 3, 4, 5, 6, 7, 8, 2_000 + i); // some of these
      add(3, 50, 51, 52, 3_000 + i % 4);
    }
    List<SharedPrefix> all = shared(1_000_000);
    assertThat(all).extracting(each -> each.chain().blocks()).containsExactly(3, 8);
    assertThat(all).extracting(SharedPrefix::newTokens).containsExactly(48L, 128L);
    assertThat(shared(64)).extracting(each -> each.chain().blocks()).containsExactly(4);
    assertThat(shared(112)).extracting(each -> each.chain().blocks()).containsExactly(4, 3);
    assertThat(prefixes.shared(model -> -1, 1_000_000, false)).isEqualTo(Shared.NONE);
  }

  /** Whoever goes on from there has a prompt that the engine takes even less. */
  @Test
  void oneThatIsTooLongIsNotWantedAndNoReasonToWantWhatIsAboveIt() {
    for (int i = 0; i < 4; i++) {
      add(8, 1, 2, 3, 4, 5, 6, 7, 8, 2_000 + i);
      add(i == 0 ? 3 : 2, 1, 2, i == 0 ? 3 : 9, 3_000 + i);
      add(3, 50, 51, 52, 4_000 + i);
    }
    Shared all = prefixes.shared(longest(8 * 16), 1_000, false);
    assertThat(all.prefixes())
        .extracting(each -> each.chain().blocks())
        .containsExactlyInAnyOrder(8, 3);
    assertThat(all.tooLong()).isZero();
    Shared found = prefixes.shared(longest(8 * 16 - 1), 1_000, false);
    assertThat(found.prefixes()).extracting(each -> each.chain().blocks()).containsExactly(3, 3);
    assertThat(found.prefixes()).extracting(SharedPrefix::demand).containsExactly(4.0, 1.0);
    assertThat(found.tooLong()).isEqualTo(1);
    assertThat(prefixes.shared(longest(8 * 16 - 1), 1_000, true)).isEqualTo(Shared.NONE);
  }

  /** As many as would be found if they were not too long. */
  @Test
  void thoseThatAreTooLongAreCounted() {
    for (int i = 0; i < 3; i++) {
      add(i == 0 ? 4 : 6, 1, 2, 3, 4, i == 0 ? 7 : 5, 6, 1_000 + i);
      add(3, 50, 51, 52, 2_000 + i);
    }
    assertThat(shared(1_000))
        .extracting(each -> each.chain().blocks())
        .containsExactlyInAnyOrder(3, 6);
    for (int tokens : new int[] {0, 15, 47}) {
      assertThat(prefixes.shared(longest(tokens), 1_000, false))
          .as("%d tokens", tokens)
          .isEqualTo(new Shared(List.of(), 2));
    }
    assertThat(prefixes.shared(longest(48), 1_000, false).tooLong()).isEqualTo(1);
    assertThat(prefixes.shared(longest(6 * 16), 1_000, false).tooLong()).isZero();
  }

  @Test
  void demandOfLongAgoIsLess() {
    add(2, 1, 2, 3);
    add(2, 1, 2, 4);
    add(2, 1, 2, 5);
    nanos += TimeUnit.MINUTES.toNanos(20);
    add(2, 6, 7, 3);
    add(2, 6, 7, 4);
    assertThat(shared(1_000)).extracting(each -> each.chain().localHash(0)).containsExactly(6L, 1L);
  }

  @Test
  void theTokensOfSharedPrefixesAreKeptIfTheEngineNamedThem() {
    prefixes.keepTokens(true);
    addTokens(100, 7, 3, 3);
    addTokens(100, 7, 5, 5);
    assertThat(prefixes.tokenShare()).isZero(); // nobody else went on from there yet
    addTokens(102, 7, 3, 2); // not all is proven
    assertThat(prefixes.shared(model -> Integer.MAX_VALUE, 1_000, true).prefixes()).isEmpty();
    addTokens(103, 7, 3, 3);
    SharedPrefix only = prefixes.shared(model -> Integer.MAX_VALUE, 1_000, true).prefixes().get(0);
    assertThat(only.tokenIds()).containsExactly(prompt(103, 7).range(0, 3 * 16));
    assertThat(BlockChain.of(SPACE, only.tokenIds(), PromptKeys.NONE).blockKey(2))
        .isEqualTo(only.chain().blockKey(2));
    assertThat(prefixes.tokenShare()).isEqualTo(48.0 / HotPrefixes.MOST_TOKEN_IDS);
    nanos += TimeUnit.MINUTES.toNanos(61);
    prefixes.expire();
    assertThat(prefixes.tokenShare()).isZero();
    addTokens(104, 7, 3, 3);
    addTokens(104, 7, 3, 3);
    addTokens(105, 7, 3, 3);
    assertThat(prefixes.tokenShare()).isPositive();
    prefixes.keepTokens(false);
    assertThat(prefixes.tokenShare()).isZero();
    assertThat(prefixes.shared(model -> Integer.MAX_VALUE, 1_000, true).prefixes()).isEmpty();
    addTokens(106, 7, 3, 3);
    assertThat(prefixes.tokenShare()).isZero();
  }

  /**
   * However the tree was split, tokens are those of the blocks, with the tokens they look ahead.
   */
  @Property(tries = 200)
  void keptTokensMakeTheBlocks(@ForAll long seed, @ForAll @IntRange(max = 1) int lookahead) {
    HotPrefixes prefixes = new HotPrefixes(() -> 0);
    prefixes.keepTokens(true);
    ChainSpace space = new ChainSpace("m", 4, lookahead);
    Random random = new Random(seed);
    for (int i = 0; i < 60; i++) {
      int[] ids = random.ints(12, 0, 2).flatMap(id -> IntStream.of(id, 1, 1, 1)).toArray();
      BlockChain chain = BlockChain.of(space, ids, PromptKeys.NONE);
      int reused = random.nextInt(chain.blocks() + 1);
      prefixes.add("m", chain, reused, new EncodedText(ids), reused);
    }
    List<SharedPrefix> all =
        prefixes.shared(model -> Integer.MAX_VALUE, 1_000_000, true).prefixes();
    assertThat(all).isNotEmpty();
    for (SharedPrefix each : all) {
      BlockChain made = BlockChain.of(space, each.tokenIds(), PromptKeys.NONE);
      assertThat(made.blocks()).isEqualTo(each.chain().blocks());
      assertThat(made.sharedBlocks(each.chain())).isEqualTo(made.blocks());
    }
    long blocks = all.stream().mapToLong(SharedPrefix::newTokens).sum() / 4;
    assertThat(blocks)
        .isEqualTo(
            all.stream()
                .flatMap(each ->
                    IntStream.range(0, each.chain().blocks())
                        .mapToObj(block -> each.chain().blockKey(block)))
                .distinct()
                .count());
  }

  @Test
  void tokensOfWhatIsWantedLeastGoFirst() {
    prefixes.keepTokens(true);
    int longest = HotPrefixes.MOST_TOKEN_IDS / 4;
    for (int prefix = 0; prefix < 6; prefix++) {
      nanos += TimeUnit.SECONDS.toNanos(2);
      for (int i = 0; i < (prefix == 0 ? 20 : 3); i++) {
        int[] ids = new int[longest + 32];
        Arrays.fill(ids, 0, longest, 1 + prefix);
        Arrays.fill(ids, longest, ids.length, 1_000 + i);
        BlockChain chain = BlockChain.of(SPACE, ids, PromptKeys.NONE);
        int shared = longest / 16;
        prefixes.add("m", chain, shared, new EncodedText(ids), shared);
      }
      assertThat(prefixes.tokenShare()).isLessThanOrEqualTo(1);
    }
    List<SharedPrefix> kept =
        prefixes.shared(model -> Integer.MAX_VALUE, Integer.MAX_VALUE, true).prefixes();
    assertThat(kept).hasSizeBetween(2, 4);
    assertThat(kept).extracting(each -> each.tokenIds()[0]).startsWith(1).contains(6);
  }

  private static ToIntFunction<@Nullable String> longest(int tokens) {
    return model -> "m".equals(model) ? tokens : -1;
  }

  private List<SharedPrefix> shared(long mostTokens) {
    return prefixes.shared(longest(Integer.MAX_VALUE), mostTokens, false).prefixes();
  }

  /** Five blocks that all share three of, with an own end. */
  private static EncodedText prompt(int own, int family) {
    int[] ids = new int[96];
    Arrays.setAll(ids, i -> i < 48 ? family * 1_000 + i : own * 1_000 + i);
    return new EncodedText(ids);
  }

  private void addTokens(int own, int family, int reused, int proven) {
    EncodedText tokens = prompt(own, family);
    BlockChain chain = BlockChain.of(SPACE, tokens.tokenIds(), PromptKeys.NONE);
    prefixes.add("m", chain, reused, tokens, proven);
  }

  private void add(int reused, long... hashes) {
    prefixes.add("m", chain(hashes), reused, null, 0);
  }

  private static BlockChain chain(long... hashes) {
    return BlockChain.ofLocalHashes(SPACE, hashes);
  }
}
