package dev.warmpath.router.logs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.router.logs.DecisionLine.PromptHashes.Pieces;
import java.util.Base64;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class PromptHashesTest {

  @Test
  void onlyWhatDiffersFromTheSessionsPromptBeforeIsWritten() {
    DecisionLine.PromptHashes prompts = new DecisionLine.PromptHashes(LogKey.fresh(new Random(1)));
    long[] first = LongStream.range(0, 400).toArray();
    long[] longer = LongStream.range(0, 480).toArray();
    assertThat(prompts.of(chain(first), "s").keep()).isZero();
    Pieces second = prompts.of(chain(longer), "s");
    assertThat(second.keep()).isEqualTo(400);
    assertThat(count(second)).isEqualTo(80);
    assertThat(prompts.of(chain(longer), "other").keep()).isZero();
    assertThat(prompts.of(chain(longer), null).keep()).isZero();
    assertThat(prompts.of(chain(longer), "s").others()).isEmpty();
    assertThat(prompts.of(chain(first), "s").keep()).isEqualTo(400);
    prompts.forget();
    assertThat(prompts.of(chain(first), "s").keep()).isZero();
  }

  @Test
  void theOldestSessionsAreForgotten() {
    DecisionLine.PromptHashes prompts = new DecisionLine.PromptHashes(LogKey.fresh(new Random(1)));
    BlockChain half = chain(LongStream.range(0, 1 << 19).toArray());
    BlockChain some = chain(LongStream.range(0, 10).toArray());
    prompts.of(some, "a");
    prompts.of(half, "b");
    prompts.of(half, "c");
    assertThat(prompts.of(some, "a").keep()).isZero();
    assertThat(prompts.of(some, "c").keep()).isEqualTo(10);
  }

  @Test
  void withoutTheKeyNothingCanBeGuessed() {
    BlockChain chain = chain(LongStream.range(0, 400).toArray());
    Pieces one = new DecisionLine.PromptHashes(LogKey.fresh(new Random(1))).of(chain, null);
    Pieces same = new DecisionLine.PromptHashes(LogKey.fresh(new Random(1))).of(chain, null);
    Pieces other = new DecisionLine.PromptHashes(LogKey.fresh(new Random(2))).of(chain, null);
    assertThat(one).isEqualTo(same).isNotEqualTo(other);
  }

  private static int count(Pieces pieces) {
    return Base64.getDecoder().decode(pieces.others()).length / 4;
  }

  private static BlockChain chain(long[] hashes) {
    return BlockChain.ofLocalHashes(new ChainSpace("m", 64, 0), hashes);
  }
}
