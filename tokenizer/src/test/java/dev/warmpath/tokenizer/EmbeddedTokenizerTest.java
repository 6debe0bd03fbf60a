package dev.warmpath.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.tokenizer.encode.TextEncoder;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import net.jqwik.api.Assume;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class EmbeddedTokenizerTest {

  /** Shared by two test engines in one process, so neither of them closes it. */
  private static final ModelTokenizer TOKENIZER = ModelTokenizer.embedded();

  @Property
  void decodingGivesTheTextBack(@ForAll String text) {
    Assume.that(TextEncoder.isWellFormed(text));
    assertThat(TOKENIZER.decode(TOKENIZER.encode(text, false))).isEqualTo(text);
  }

  @Property
  void decodingGivesBackCharactersOfEveryPlane(@ForAll List<Integer> numbers) {
    StringBuilder text = new StringBuilder();
    for (int number : numbers) {
      int codePoint = Math.floorMod(number, Character.MAX_CODE_POINT + 1);
      text.appendCodePoint(Character.getType(codePoint) == Character.SURROGATE ? ' ' : codePoint);
    }
    assertThat(TOKENIZER.decode(TOKENIZER.encode(text.toString(), false)))
        .isEqualTo(text.toString());
  }

  @Test
  void commonWordsAreOneToken() {
    assertThat(TOKENIZER.encode(" the answer of the cache", false)).hasSize(5);
  }

  @Test
  void specialTokensInATextAreSpecial() {
    int[] ids = TOKENIZER.encode("<|im_start|>user<|im_end|>", true);
    assertThat(ids).hasSize(3).endsWith(TOKENIZER.maxTokenId());
  }

  @Test
  void halfASurrogatePairIsRefused() {
    assertThat(TextEncoder.isWellFormed("😀")).isTrue();
    for (String half : List.of("\ud83d", "\ude00", "\ude00\ud83d", "a\ud83db")) {
      assertThat(TextEncoder.isWellFormed(half)).isFalse();
      assertThatThrownBy(() -> TOKENIZER.encode(half, false))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void manyThreadsEncodeAtOnce() throws InterruptedException, ExecutionException {
    String text = "A router that knows what each replica holds. ".repeat(50);
    int[] expected = TOKENIZER.encode(text, false);
    ExecutorService pool = Executors.newFixedThreadPool(4);
    try {
      List<Future<int[]>> results = new ArrayList<>();
      IntStream.range(0, 200)
          .forEach(i -> results.add(pool.submit(() -> TOKENIZER.encode(text, false))));
      for (Future<int[]> result : results) {
        assertThat(result.get()).isEqualTo(expected);
      }
    } finally {
      pool.shutdownNow();
    }
  }

  @Test
  void aClosedTokenizerSaysSo() {
    ModelTokenizer closed = ModelTokenizer.embedded();
    closed.close();
    closed.close();
    assertThatThrownBy(() -> closed.encode("a", false)).isInstanceOf(IllegalStateException.class);
  }
}
