package dev.warmpath.tokenizer.encode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.tokenizer.body.InexactPromptException;
import dev.warmpath.tokenizer.encode.CutPlan.Kind;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CancellationException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** No call of the native library is longer than its bound, and texts that are cut have none. */
class NativeBoundTest {

  private static final EncodeBudget ROOMY = new EncodeBudget(64 << 20, 20);
  private static final String WORDS = "the heather has a hedge, he said. ";
  private static final int MEBIBYTE = 1 << 20;

  @Test
  void aTokenizerThatCutsNothingTakesWhatFitsAndNothingLonger() {
    try (IncrementalEncoder encoder = encoder(cutting().token("a", "single_word"), Kind.WHOLE)) {
      String longest = "b ".repeat(IncrementalEncoder.NativeBound.LONGEST_BYTES / 2);
      EncodedText encoded = encoder.encode(longest);
      assertThat(encoded).isNotNull();
      assertThat(encoded.count()).isPositive();
      long made = encoder.counts().nativeTokens();
      assertRefused(encoder, longest + "b");
      assertRefused(encoder, longest.repeat(20));
      assertThat(encoder.counts().nativeTokens()).isEqualTo(made);
    }
  }

  @Test
  void aTextThatIsCutHasNoBound() {
    try (IncrementalEncoder encoder = encoder(cutting(), Kind.INSIDE)) {
      EncodedText encoded = encoder.encode(WORDS.repeat(10 * MEBIBYTE / WORDS.length()));
      assertThat(encoded).isNotNull();
      assertThat(encoded.count()).isGreaterThan(MEBIBYTE);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"b", " ", "\n", "\0", "\u4e2d", "\u0301", "\ud83d\ude00"})
  void whatCannotBeCutInsideATextIsRefused(String unit) {
    try (IncrementalEncoder encoder = encoder(cutting(), Kind.INSIDE)) {
      assertRefused(
          encoder,
          WORDS + unit.repeat(IncrementalEncoder.NativeBound.LONGEST_BYTES + 1) + " " + WORDS);
      EncodedText after = encoder.encode(WORDS + unit + " " + WORDS);
      assertThat(after).isNotNull();
      assertThat(after.tokenIds())
          .isEqualTo(encoder.whole().encode(WORDS + unit + " " + WORDS, false));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"b", "\u00e9", "\u4e2d", "\ud83d\ude00"})
  void bytesOfUtf8Count(String unit) {
    int bytes = unit.getBytes(StandardCharsets.UTF_8).length;
    String longest = unit.repeat(IncrementalEncoder.NativeBound.LONGEST_BYTES / bytes);
    IncrementalEncoder.NativeBound.check(longest);
    assertThatThrownBy(() -> IncrementalEncoder.NativeBound.check(longest + unit))
        .isInstanceOf(InexactPromptException.class);
  }

  @Test
  void aTextWithSpecialTokensIsBoundedAndGivenUpToo() {
    try (IncrementalEncoder encoder = encoder(cutting(), Kind.INSIDE)) {
      String longer = "b ".repeat(IncrementalEncoder.NativeBound.LONGEST_BYTES);
      assertThatThrownBy(() -> encoder.wholeWithSpecialTokens(longer, EncodeGuard.NONE))
          .isInstanceOf(InexactPromptException.class);
      Thread.currentThread().interrupt();
      try {
        assertThatThrownBy(() -> encoder.wholeWithSpecialTokens("b", EncodeGuard.NONE))
            .isInstanceOf(CancellationException.class);
      } finally {
        assertThat(Thread.interrupted()).isTrue();
      }
    }
  }

  private static void assertRefused(IncrementalEncoder encoder, String text) {
    assertThatThrownBy(() -> encoder.encode(text))
        .isInstanceOf(InexactPromptException.class)
        .hasMessageContaining("cannot be cut");
  }

  private static IncrementalEncoder encoder(TinyTokenizer tiny, Kind kind) {
    IncrementalEncoder encoder = IncrementalEncoder.of(TokenizerShape.read(tiny.json()), ROOMY, 1);
    assertThat(encoder.placement().kind()).isEqualTo(kind);
    return encoder;
  }

  private static TinyTokenizer cutting() {
    return TinyTokenizer.byteLevel("h e", "\u0120 h", "\u0120 he", "\u0120 a", "t he")
        .splitByPatterns(TinyTokenizer.LLAMA3)
        .token("<|x|>");
  }
}
