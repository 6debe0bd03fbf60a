package dev.warmpath.router.dispatch;

import static dev.warmpath.router.dispatch.UncachedTokens.Cause.ELSEWHERE;
import static dev.warmpath.router.dispatch.UncachedTokens.Cause.EVICTED;
import static dev.warmpath.router.dispatch.UncachedTokens.Cause.LOST;
import static dev.warmpath.router.dispatch.UncachedTokens.Cause.MISPREDICTED;
import static dev.warmpath.router.dispatch.UncachedTokens.Cause.NEW;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.router.dispatch.UncachedTokens.Cause;
import java.util.Arrays;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PromptHistoryTest {

  private static final ChainSpace SPACE = new ChainSpace("m", 16, 0);
  private static final PromptHistory.Losses NONE = (engine, before) -> false;

  private final PromptHistory history = new PromptHistory();

  @Test
  void whatNobodyComputedIsNew() {
    assertThat(causes(prompt(1, 1000), 0, 0)).isEqualTo(Map.of(NEW, 1000));
  }

  /** The last token is always computed, and so is the block that it ends. */
  @ParameterizedTest
  @ValueSource(ints = {1, 15, 16, 17, 32, 33, 160, 161, 1000, 1024, 4095, 70_001})
  void allOfAnEarlierPromptIsFound(int tokens) {
    BlockChain prompt = prompt(1, tokens);
    history.computed(prompt, 3, 0, 0, 0);
    int known = (tokens - 1) / 16 * 16;
    assertThat(tokens(prompt, 0, 0).of(EVICTED)).isEqualTo(known);
    assertThat(tokens(prompt, 0, 0).of(NEW)).isEqualTo(tokens - known);
  }

  /** Four that compete are many as long as the room is small. */
  @Test
  void noneIsForgottenForAnotherWhileThereIsRoom() {
    history.engines(2);
    for (int i = 0; i < 200; i++) {
      history.computed(prompt(i, 353), 3, 0, 0, 0);
    }
    for (int i = 0; i < 200; i++) {
      assertThat(tokens(prompt(i, 353), 0, 0).of(EVICTED)).isEqualTo(352);
    }
    assertThat(history.memoryShare()).isLessThan(0.1);
  }

  @Test
  void allThatAnEarlierPromptSharesIsFoundWhereItEndsAndMostOfItElse() {
    SplittableRandom random = new SplittableRandom(5);
    for (int i = 0; i < 2000; i++) {
      int shared = 16 * random.nextInt(1, 2000);
      int held = 16 * random.nextInt(0, shared / 16 + 1);
      BlockChain ends = prompt(i, shared);
      history.computed(ends, 3, 0, 0, 0);
      BlockChain goesOn = prompt(i, shared + 16 * random.nextInt(1, 500));
      assertThat(tokens(goesOn, held, held).of(EVICTED)).isEqualTo(shared - held);

      BlockChain longer = prompt(-1 - i, shared + 16 * random.nextInt(1, 500));
      history.computed(longer, 3, 0, 0, 0);
      BlockChain branches = branching(longer, shared / 16);
      int found = tokens(branches, 0, 0).of(EVICTED);
      assertThat(found).isBetween(shared - shared / 4, shared);
    }
  }

  @Test
  void theAnswerOfAnEarlierPromptIsFoundToo() {
    history.computed(prompt(1, 1000), 3, 0, 0, 100); // 1100 tokens: 68 blocks
    assertThat(causes(prompt(1, 2000), 0, 0)).isEqualTo(Map.of(EVICTED, 1088, NEW, 912));
    assertThat(causes(prompt(1, 2000), 976, 976)).isEqualTo(Map.of(EVICTED, 112, NEW, 912));
  }

  /** Where the prompt is held whole, what follows would be held, too, if it was the answer. */
  @Test
  void whatDoesNotFollowAHeldPromptIsNotItsAnswer() {
    history.computed(prompt(1, 1000), 3, 0, 0, 100);
    assertThat(causes(prompt(1, 2000), 992, 992)).isEqualTo(Map.of(NEW, 1008));
  }

  @Test
  void whatTheEngineHadBeforeItLostItsCacheIsLost() {
    history.computed(prompt(1, 512), 3, 7, 0, 0);
    history.computed(prompt(1, 1024), 4, 9, 0, 0);
    history.computed(prompt(1, 256), 3, 7, 0, 0);
    BlockChain prompt = prompt(1, 2000);
    assertThat(causes(prompt, 0, 0, (engine, before) -> engine == 3 && before == 7))
        .isEqualTo(Map.of(LOST, 256, EVICTED, 768, NEW, 976));
  }

  @Test
  void causesLieOneBehindAnother() {
    history.computed(prompt(1, 1024), 3, 0, 0, 0);
    UncachedCauses causes = history.causes(prompt(1, 1500), 256, 512, NONE);
    assertThat(causes.of(1500, 256).byCause())
        .isEqualTo(Map.of(ELSEWHERE, 256, EVICTED, 512, NEW, 476));
    assertThat(causes.of(1500, 0).byCause())
        .isEqualTo(Map.of(MISPREDICTED, 256, ELSEWHERE, 256, EVICTED, 512, NEW, 476));
    assertThat(causes.of(1500, 600).byCause()).isEqualTo(Map.of(EVICTED, 424, NEW, 476));
    assertThat(causes.of(1500, 1500).byCause()).isEmpty();
    assertThat(causes.of(1500, 9999).total()).isZero();
  }

  @Test
  void theCausesAddUpWhateverIsReported() {
    SplittableRandom random = new SplittableRandom(9);
    for (int i = 0; i < 20_000; i++) {
      int family = random.nextInt(50);
      BlockChain prompt = prompt(family, random.nextInt(1, 5000));
      int predicted = random.nextInt(prompt.promptTokens());
      UncachedCauses causes =
          history.causes(prompt, predicted, random.nextInt(6000), (engine, before) -> before == 1);
      int tokens = Math.max(1, prompt.promptTokens() + random.nextInt(-2, 3));
      int cached = random.nextInt(tokens + 1);
      assertThat(causes.of(tokens, cached).total()).isEqualTo(tokens - cached);
      history.computed(prompt, random.nextInt(4), random.nextInt(2), 0, random.nextInt(500));
    }
  }

  @Test
  void itsMemoryIsBoundedAndTheOldestIsForgotten() {
    for (int i = 0; i < 40_000; i++) {
      history.computed(prompt(i, 160), 0, 0, 0, 0);
    }
    assertThat(history.memoryShare()).isBetween(0.9, 1.0);
    assertThat(tokens(prompt(39_999, 160), 0, 0).of(EVICTED)).isEqualTo(144);
    assertThat(tokens(prompt(1, 160), 0, 0).of(EVICTED)).isZero();
    assertThat((long) PromptHistory.PLACES_AN_ENGINE * PromptHistory.BYTES_A_PLACE)
        .isLessThanOrEqualTo(1 << 20);
  }

  /** What others had computed is learned with every fourth prompt. */
  @Test
  void whatIsReusedIsRememberedByEveryFourthPrompt() {
    for (int turn = 1; turn <= 4; turn++) {
      assertThat(tokens(prompt(1, 1600), 0, 0).of(EVICTED)).as("turn %d", turn).isZero();
      history.computed(prompt(1, 800 + 16 * turn), 3, 0, 784 + 16 * turn, 0);
    }
    assertThat(tokens(prompt(1, 1600), 0, 0).of(EVICTED)).isEqualTo(864);
  }

  @Test
  void allTurnsOfAChatAreFound() {
    for (int tokens = 1000; tokens <= 20_000; tokens += 1000) {
      history.computed(prompt(1, tokens), 3, 0, tokens - 1000, 0);
    }
    assertThat(tokens(prompt(1, 30_000), 0, 0).of(EVICTED)).isEqualTo(20_000);
  }

  @Test
  void asManyOwnersAsThereMayBeAreKeptApart() {
    for (int loss = 0; loss <= 65_536; loss++) {
      history.computed(prompt(loss % 2, 320), loss % 2, loss, 0, 0);
    }
    PromptHistory.Losses last = (engine, before) -> engine == 0 && before == 65_536;
    assertThat(causes(prompt(0, 400), 0, 0, last).get(LOST)).isEqualTo(320);
    PromptHistory.Losses other = (engine, before) -> engine == 1 && before == 65_535;
    assertThat(causes(prompt(1, 400), 0, 0, other).get(LOST)).isEqualTo(320);
    assertThat(causes(prompt(1, 400), 0, 0, last)).doesNotContainKey(LOST);
  }

  private Map<Cause, Integer> causes(BlockChain prompt, int predicted, int held) {
    return causes(prompt, predicted, held, NONE);
  }

  private Map<Cause, Integer> causes(
      BlockChain prompt, int predicted, int held, PromptHistory.Losses losses) {
    return history
        .causes(prompt, predicted, held, losses)
        .of(prompt.promptTokens(), predicted)
        .byCause();
  }

  private UncachedTokens tokens(BlockChain prompt, int predicted, int held) {
    return history.causes(prompt, predicted, held, NONE).of(prompt.promptTokens(), predicted);
  }

  /** A prompt of a family: a shorter one is the begin of a longer one. */
  private static BlockChain prompt(int family, int tokens) {
    long[] hashes = new long[tokens / 16];
    Arrays.setAll(hashes, i -> family * 1_000_003L + i);
    return BlockChain.ofLocalHashes(SPACE, tokens, hashes);
  }

  private static BlockChain branching(BlockChain prompt, int sharedBlocks) {
    long[] hashes = new long[prompt.blocks() + 100];
    Arrays.setAll(hashes, i -> i < sharedBlocks ? prompt.localHash(i) : ~i);
    return BlockChain.ofLocalHashes(SPACE, 16 * hashes.length, hashes);
  }
}
