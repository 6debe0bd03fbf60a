package dev.warmpath.kvindex.block;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class BlockRunTest {

  private static final ChainSpace SPACE = new ChainSpace("m", 4, 1);
  private static final int[] TOKENS = IntStream.range(0, 50).toArray();
  private static final PromptTokens PROMPT = of(50);

  @Test
  void knownBlocksAreTakenOver() {
    BlockChain whole = BlockChain.of(SPACE, TOKENS, PromptKeys.NONE);
    assertThat(whole.blocks()).isEqualTo(12);
    List<BlockRun> known = List.of(whole.run(0, 3), whole.run(3, 3), whole.run(3, 7));
    assertSame(BlockChain.of(SPACE, PROMPT, PromptKeys.NONE, known), whole);
  }

  @Test
  void knownBlocksAreNotHashedAgain() {
    BlockChain other = BlockChain.of(SPACE, new int[50], PromptKeys.NONE);
    BlockChain chain = BlockChain.of(SPACE, PROMPT, PromptKeys.NONE, List.of(other.run(0, 3)));
    assertThat(chain.localHash(2)).isEqualTo(other.localHash(2));
    assertThat(chain.localHash(3)).isNotEqualTo(other.localHash(3));
  }

  @Test
  void withoutAnyKnownBlockAllAreHashed() {
    BlockChain whole = BlockChain.of(SPACE, TOKENS, PromptKeys.NONE);
    assertSame(BlockChain.of(SPACE, PROMPT, PromptKeys.NONE, List.of()), whole);
  }

  @Test
  void aSaltChangesTheFirstBlockAndAnAdapterAll() {
    List<BlockRun> known = List.of(BlockChain.of(SPACE, TOKENS, PromptKeys.NONE).run(0, 7));
    for (PromptKeys keys :
        List.of(new PromptKeys(null, "s"), new PromptKeys("l", null), new PromptKeys("l", "s"))) {
      assertSame(BlockChain.of(SPACE, PROMPT, keys, known), BlockChain.of(SPACE, TOKENS, keys));
    }
  }

  @Test
  void aShortPromptHasNoBlocks() {
    assertThat(BlockChain.of(SPACE, of(4), PromptKeys.NONE, List.of()).blocks()).isZero();
    assertThat(SPACE.blocks(0)).isZero();
  }

  private static PromptTokens of(int count) {
    return new PromptTokens() {
      @Override
      public int count() {
        return count;
      }

      @Override
      public int[] range(int from, int to) {
        return Arrays.copyOfRange(Arrays.copyOf(TOKENS, count), from, Math.min(to, count));
      }
    };
  }

  private static void assertSame(BlockChain chain, BlockChain expected) {
    assertThat(chain.blocks()).isEqualTo(expected.blocks());
    for (int i = 0; i < expected.blocks(); i++) {
      assertThat(chain.localHash(i)).as("block %d", i).isEqualTo(expected.localHash(i));
      assertThat(chain.blockKey(i)).isEqualTo(expected.blockKey(i));
    }
  }
}
