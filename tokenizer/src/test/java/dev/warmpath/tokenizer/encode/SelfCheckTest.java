package dev.warmpath.tokenizer.encode;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.tokenizer.encode.CutPlan.Head;
import dev.warmpath.tokenizer.encode.CutPlan.Kind;
import java.util.BitSet;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Each wrong rule is seen through, where the vocabulary can show it. */
class SelfCheckTest {

  private static final CutRule BLANKS = CutRule.blanksNotAfter(new BitSet());

  static List<Arguments> wrongPlacements() {
    return List.of(
        Arguments.of("lines with GPT-2's splits", gpt2(), Head.NONE, CutRule.spacesAndLines()),
        Arguments.of(
            "a merge that reaches over",
            blanks("> \u2581").normalize(TinyTokenizer.BLANKS),
            Head.NONE,
            BLANKS),
        Arguments.of(
            "a prepended blank forgotten",
            blanks("\u2581 a").normalize(TinyTokenizer.PREPEND, TinyTokenizer.BLANKS),
            Head.NONE,
            BLANKS),
        Arguments.of(
            "a prepended blank at the text's beginning only",
            blanks("\u2581 a").normalize(TinyTokenizer.PREPEND, TinyTokenizer.BLANKS),
            Head.TEXT,
            BLANKS),
        Arguments.of(
            "Metaspace's first word forgotten",
            blanks("\u2581 a").metaspace("first", false),
            Head.NONE,
            CutRule.NEVER),
        Arguments.of(
            "white space taken along", gpt2().token("<f>", "rstrip"), Head.NONE, CutRule.NEVER),
        Arguments.of(
            "white space taken along before",
            gpt2().token("<f>", "lstrip"),
            Head.NONE,
            CutRule.NEVER),
        Arguments.of("a single word", gpt2().token("a", "single_word"), Head.NONE, CutRule.NEVER),
        Arguments.of(
            "a token in normalized text",
            gpt2().normalize("{'type':'NFC'}").token("<a>", "normalized"),
            Head.NONE,
            CutRule.NEVER));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("wrongPlacements")
  void findsTheMismatch(String name, TinyTokenizer tokenizer, Head head, CutRule rule) {
    String json = tokenizer.json();
    CutPlan wrong = new CutPlan(Kind.INSIDE, name, withoutFlags(json), rule, head);
    try (CheckRig rig = new CheckRig(json, head)) {
      assertThat(rig.check().mismatches(wrong, 2_000, 1)).isEqualTo(1);
    }
  }

  @Test
  void lowersWhatFails() {
    String json = gpt2().json();
    CutPlan wrong =
        new CutPlan(Kind.INSIDE, "lines", withoutFlags(json), CutRule.spacesAndLines(), Head.NONE);
    try (CheckRig rig = new CheckRig(json, Head.NONE)) {
      CutPlan lowered = rig.check().checked(wrong, 2_000);
      assertThat(lowered.kind()).isEqualTo(Kind.BETWEEN_TOKENS);
      assertThat(lowered.reason()).contains("INSIDE", "lines");
    }
  }

  @Test
  void lowersToWholeTexts() {
    String json = gpt2().token("a", "single_word").json();
    CutPlan wrong =
        new CutPlan(Kind.INSIDE, "words", withoutFlags(json), CutRule.spaces(), Head.NONE);
    try (CheckRig rig = new CheckRig(json, Head.NONE)) {
      assertThat(rig.check().checked(wrong, 2_000).kind()).isEqualTo(Kind.WHOLE);
    }
  }

  /** o200k lets slashes follow line breaks in one split. */
  @Test
  void aSlashBehindALineBreakBelongsToWhatIsBefore() {
    String json = TinyTokenizer.byteLevel("Ċ /").splitByPatterns(TinyTokenizer.O200K).json();
    try (CheckRig rig = new CheckRig(json, Head.NONE)) {
      int inPieces = rig.whole("=\n").length + rig.whole("/").length;
      assertThat(rig.whole("=\n/")).hasSizeLessThan(inPieces);
    }
    assertThat(CutRule.spacesAndLines().cutsBefore("=\n/", 2)).isFalse();
    assertThat(CutRule.spacesAndLines().cutsBefore("=\n=", 2)).isTrue();
  }

  private static TinyTokenizer gpt2() {
    return TinyTokenizer.byteLevel("Ġ Ġ", "ĠĠ Ċ", "Ġ a", "h e", "Ġ <").split(TinyTokenizer.GPT2);
  }

  private static TinyTokenizer blanks(String... merges) {
    return TinyTokenizer.blanks(merges).token("<t>");
  }

  /** The added tokens, each taken for a plain one. */
  private static AddedTokens withoutFlags(String json) {
    return new AddedTokens(
        TokenizerShape.read(json).addedTokens().stream()
            .map(token -> new AddedToken(token.content(), token.id(), true, false, false, false))
            .toList());
  }
}
