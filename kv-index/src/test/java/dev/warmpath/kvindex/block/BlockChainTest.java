package dev.warmpath.kvindex.block;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class BlockChainTest {

  private static final ChainSpace SPACE = new ChainSpace("m", 4, 0);
  private static final int[] PROMPT = IntStream.range(0, 12).toArray();

  @Property
  void countsFullBlocksWithTheirLookahead(
      @ForAll @IntRange(max = 100) int tokens,
      @ForAll @IntRange(min = 1, max = 20) int blockSizeTokens,
      @ForAll @IntRange(max = 5) int lookaheadTokens) {
    ChainSpace space = new ChainSpace("m", blockSizeTokens, lookaheadTokens);
    BlockChain chain = BlockChain.of(space, new int[tokens], PromptKeys.NONE);
    int blocks = chain.blocks();
    assertThat(blocks == 0 || blocks * blockSizeTokens + lookaheadTokens <= tokens).isTrue();
    assertThat((blocks + 1) * blockSizeTokens + lookaheadTokens).isGreaterThan(tokens);
    assertThat(chain.promptTokens()).isEqualTo(tokens);
  }

  @Test
  void chainsLocalHashesFromTheRoot() {
    BlockChain chain = BlockChain.of(SPACE, PROMPT, PromptKeys.NONE);
    long key = SPACE.rootKey();
    for (int i = 0; i < 3; i++) {
      assertThat(chain.localHash(i)).isEqualTo(BlockHasher.localHash(PROMPT, 4 * i, 4, List.of()));
      key = BlockHasher.blockKey(key, chain.localHash(i));
      assertThat(chain.blockKey(i)).isEqualTo(key);
    }
  }

  @Test
  void isTheChainOfTheSameTokensInAnotherSpaceOfEqualBlocks() {
    ChainSpace other = new ChainSpace("n", 4, 0);
    BlockChain moved = BlockChain.of(SPACE, PROMPT, PromptKeys.NONE).in(other);
    BlockChain made = BlockChain.of(other, PROMPT, PromptKeys.NONE);
    assertThat(moved).isNotNull();
    assertThat(moved.space()).isEqualTo(other);
    assertThat(moved.sharedBlocks(made)).isEqualTo(3);
    assertThat(moved.in(new ChainSpace("n", 8, 0))).isNull();
    assertThat(moved.in(new ChainSpace("n", 4, 1))).isNull();
  }

  @Test
  void changedTokenChangesItsBlockAndAllLaterKeys() {
    int[] other = PROMPT.clone();
    other[5] = 99;
    BlockChain one = BlockChain.of(SPACE, PROMPT, PromptKeys.NONE);
    BlockChain two = BlockChain.of(SPACE, other, PromptKeys.NONE);
    assertThat(one.blockKey(0)).isEqualTo(two.blockKey(0));
    assertThat(one.blockKey(1)).isNotEqualTo(two.blockKey(1));
    assertThat(one.blockKey(2)).isNotEqualTo(two.blockKey(2));
    assertThat(one.localHash(2)).isEqualTo(two.localHash(2));
  }

  @Property
  void sharesTheBlocksBeforeTheFirstOtherToken(
      @ForAll @IntRange(max = 60) int one,
      @ForAll @IntRange(max = 60) int other,
      @ForAll @IntRange(max = 60) int same) {
    int[] ids = IntStream.range(0, other).map(i -> i < same ? i : 1000 + i).toArray();
    BlockChain chain = BlockChain.of(SPACE, IntStream.range(0, one).toArray(), PromptKeys.NONE);
    BlockChain forked = BlockChain.of(SPACE, ids, PromptKeys.NONE);
    int shared = Math.min(same, Math.min(one, other)) / 4;
    assertThat(chain.sharedBlocks(forked)).isEqualTo(shared);
    assertThat(forked.sharedBlocks(chain)).isEqualTo(shared);
  }

  @Test
  void saltIsOnTheFirstBlockOnlyAndPartsTheWholeChain() {
    BlockChain plain = BlockChain.of(SPACE, PROMPT, PromptKeys.NONE);
    BlockChain salted = BlockChain.of(SPACE, PROMPT, new PromptKeys(null, "tenant"));
    assertThat(salted.localHash(0)).isNotEqualTo(plain.localHash(0));
    assertThat(salted.localHash(1)).isEqualTo(plain.localHash(1));
    assertThat(salted.blockKey(2)).isNotEqualTo(plain.blockKey(2));
  }

  @Test
  void adapterIsOnEveryBlock() {
    BlockChain plain = BlockChain.of(SPACE, PROMPT, PromptKeys.NONE);
    BlockChain adapted = BlockChain.of(SPACE, PROMPT, new PromptKeys("adapter", null));
    for (int i = 0; i < 3; i++) {
      assertThat(adapted.localHash(i)).isNotEqualTo(plain.localHash(i));
    }
  }

  @Test
  void keysComeInTheEnginesOrder() {
    PromptKeys keys = new PromptKeys("adapter", "tenant");
    assertThat(keys.of(0, 4))
        .containsExactly(new ExtraKey.Lora("adapter"), new ExtraKey.CacheSalt("tenant"));
    assertThat(keys.of(1, 4)).containsExactly(new ExtraKey.Lora("adapter"));
  }

  /**
   * As vLLM's own code does: an image at 5 with 40 tokens in blocks of 16, another right behind.
   */
  @Test
  void eachBlockOfAnImageSaysWhereItBegan() {
    PromptKeys keys =
        new PromptKeys(
            null,
            "tenant",
            List.of(new PromptKeys.Item("a", 5, 40), new PromptKeys.Item("b", 45, 19)));
    assertThat(keys.of(0, 16))
        .containsExactly(new ExtraKey.Multimodal("a", 5), new ExtraKey.CacheSalt("tenant"));
    assertThat(keys.of(1, 16)).containsExactly(new ExtraKey.Multimodal("a", -11));
    assertThat(keys.of(2, 16))
        .containsExactly(new ExtraKey.Multimodal("a", -27), new ExtraKey.Multimodal("b", 13));
    assertThat(keys.of(3, 16)).containsExactly(new ExtraKey.Multimodal("b", -3));
    assertThat(keys.of(4, 16)).isEmpty();
  }

  @Test
  void anImageThatItsTokensTellApartHasNoKeys() {
    PromptKeys.Item named = new PromptKeys.Item("b", 45, 19);
    PromptKeys keys =
        new PromptKeys(null, null, List.of(new PromptKeys.Item("a", 5, 40, true), named));
    assertThat(keys.of(0, 16)).isEmpty();
    assertThat(keys.of(2, 16)).containsExactly(new ExtraKey.Multimodal("b", 13));
    assertThat(keys.plainBlocks(8, 16)).isEqualTo(2);
    PromptKeys alone = new PromptKeys(null, null, keys.items().subList(0, 1));
    assertThat(alone.plainBlocks(8, 16)).isEqualTo(8);
    assertThat(BlockChain.of(SPACE, PROMPT, alone).localHash(1))
        .isEqualTo(BlockChain.of(SPACE, PROMPT, PromptKeys.NONE).localHash(1));
  }

  @Test
  void blocksBeforeAnImageAreTakenFromMemory() {
    BlockChain text = BlockChain.of(SPACE, PROMPT, PromptKeys.NONE);
    PromptKeys keys = new PromptKeys(null, null, List.of(new PromptKeys.Item("a", 5, 2)));
    PromptTokens tokens =
        new PromptTokens() {
          @Override
          public int count() {
            return PROMPT.length;
          }

          @Override
          public int[] range(int from, int to) {
            assertThat(from).as("the first block is known").isEqualTo(4);
            return java.util.Arrays.copyOfRange(PROMPT, from, to);
          }
        };
    BlockChain known = BlockChain.of(SPACE, tokens, keys, List.of(text.run(0, 3)));
    BlockChain whole = BlockChain.of(SPACE, PROMPT, keys);
    assertThat(known.blockKey(2)).isEqualTo(whole.blockKey(2));
    assertThat(whole.localHash(0)).isEqualTo(text.localHash(0));
    assertThat(whole.localHash(1)).isNotEqualTo(text.localHash(1));
    assertThat(whole.localHash(2)).isEqualTo(text.localHash(2));
    assertThat(whole.blockKey(2)).isNotEqualTo(text.blockKey(2));
  }

  @Test
  void lookaheadTokenNamesTheBlockBeforeIt() {
    ChainSpace ahead = new ChainSpace("m", 4, 1);
    int[] other = {0, 1, 2, 3, 99};
    assertThat(BlockChain.of(ahead, other, PromptKeys.NONE).blocks()).isEqualTo(1);
    assertThat(BlockChain.of(ahead, other, PromptKeys.NONE).blockKey(0))
        .isNotEqualTo(BlockChain.of(ahead, PROMPT, PromptKeys.NONE).blockKey(0));
  }

  @Test
  void spacesShareNoKeys() {
    assertThat(
            List.of(
                SPACE.rootKey(),
                new ChainSpace("n", 4, 0).rootKey(),
                new ChainSpace("m", 8, 0).rootKey(),
                new ChainSpace("m", 4, 1).rootKey()))
        .doesNotHaveDuplicates();
  }

  @Test
  void spacesAreValidated() {
    assertThatThrownBy(() -> new ChainSpace("m", 0, 0)).hasMessage("blockSizeTokens=0");
    assertThatThrownBy(() -> new ChainSpace("m", 1 << 17, 0)).hasMessageContaining("131072");
    assertThatThrownBy(() -> new ChainSpace("m", 1, -1)).hasMessage("lookaheadTokens=-1");
  }
}
