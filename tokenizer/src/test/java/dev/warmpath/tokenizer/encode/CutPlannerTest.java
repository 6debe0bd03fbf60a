package dev.warmpath.tokenizer.encode;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.tokenizer.encode.CutPlan.Head;
import dev.warmpath.tokenizer.encode.CutPlan.Kind;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Each kind of tokenizer is placed as it should be, and the real library agrees. */
class CutPlannerTest {

  private static final String[] BYTES = {"Ġ Ġ", "ĠĠ Ċ", "Ġ a", "/ Ċ", "Ċ Ċ", "Ċ /", "h e"};
  private static final String[] CHARS = {
    "\u2581 \u2581", "\u2581 a", "a \u2581a", "h e", "> \u2581"
  };

  static List<Arguments> tokenizers() {
    return List.of(
        of("GPT-2", bytes().split(TinyTokenizer.GPT2), Kind.INSIDE, Head.NONE),
        of("Llama 3", bytes().splitByPatterns(TinyTokenizer.LLAMA3), Kind.INSIDE, Head.NONE),
        of("o200k", bytes().splitByPatterns(TinyTokenizer.O200K), Kind.INSIDE, Head.NONE),
        of("Tekken", bytes().splitByPatterns(TinyTokenizer.TEKKEN), Kind.INSIDE, Head.NONE),
        of("Qwen 3.5", bytes().splitByPatterns(TinyTokenizer.QWEN35), Kind.INSIDE, Head.NONE),
        of(
            "tiktoken's, inverted",
            bytes().splitByPatterns(TinyTokenizer.LLAMA3).inverted(),
            Kind.INSIDE,
            Head.NONE),
        of(
            "two patterns, inverted",
            bytes().splitByPatterns(TinyTokenizer.LLAMA3, TinyTokenizer.LLAMA3).inverted(),
            Kind.BETWEEN_TOKENS,
            Head.NONE),
        of("StarCoder", bytes().splitDigits(true), Kind.INSIDE, Head.NONE),
        of("digits together", bytes().splitDigits(false), Kind.INSIDE, Head.NONE),
        of(
            "NFC",
            bytes().normalize("{'type':'NFC'}").splitByPatterns(TinyTokenizer.LLAMA3),
            Kind.INSIDE,
            Head.NONE),
        of(
            "lower case",
            bytes().normalize("{'type':'Lowercase'}").splitByPatterns(TinyTokenizer.LLAMA3),
            Kind.BETWEEN_TOKENS,
            Head.NONE),
        of("another pattern", bytes().splitByPatterns("\\w+"), Kind.BETWEEN_TOKENS, Head.NONE),
        of(
            "prefix space",
            bytes().split(TinyTokenizer.GPT2.replace("space':false", "space':true")),
            Kind.BETWEEN_TOKENS,
            Head.NONE),
        of("Gemma", chars().normalize(TinyTokenizer.BLANKS), Kind.INSIDE, Head.NONE),
        of(
            "Gemma's needless split",
            chars()
                .normalize(TinyTokenizer.BLANKS)
                .split(
                    "{'type':'Split','pattern':{'String':' '},'behavior':'MergedWithPrevious','invert':false}"),
            Kind.INSIDE,
            Head.NONE),
        of(
            "Llama 2",
            chars().normalize(TinyTokenizer.PREPEND, TinyTokenizer.BLANKS),
            Kind.INSIDE,
            Head.REST),
        of(
            "Phi-3",
            chars().normalize(TinyTokenizer.PREPEND, TinyTokenizer.BLANKS).token("<f>", "rstrip"),
            Kind.BETWEEN_TOKENS,
            Head.REST),
        of("Metaspace first", chars().metaspace("first", false), Kind.INSIDE, Head.TEXT),
        of("Metaspace always", chars().metaspace("always", false), Kind.INSIDE, Head.NONE),
        of("Metaspace never", chars().metaspace("never", false), Kind.INSIDE, Head.NONE),
        of("Metaspace that splits", chars().metaspace("always", true), Kind.INSIDE, Head.NONE),
        of("splits, first", chars().metaspace("first", true), Kind.INSIDE, Head.TEXT),
        of("T5", unigram().metaspace("always", true), Kind.INSIDE, Head.NONE),
        of(
            "T5 that normalizes",
            unigram().normalize("{'type':'NFKC'}").metaspace("always", true),
            Kind.BETWEEN_TOKENS,
            Head.NONE),
        of("unigram", unigram(), Kind.BETWEEN_TOKENS, Head.NONE),
        of("lstrip", llama3().token("<f>", "lstrip"), Kind.INSIDE, Head.NONE),
        of("rstrip", llama3().token("<f>", "rstrip"), Kind.INSIDE, Head.NONE),
        of("strip beside space", llama3().token("<f>", "rstrip").token(" <g>"), Kind.WHOLE, null),
        of("single word", llama3().token("f", "single_word"), Kind.WHOLE, null),
        of("normalized token", llama3().token("<n>", "normalized"), Kind.INSIDE, Head.NONE),
        of(
            "token in normalized text",
            bytes()
                .normalize("{'type':'NFC'}")
                .splitByPatterns(TinyTokenizer.LLAMA3)
                .token("<n>", "normalized"),
            Kind.WHOLE,
            null));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("tokenizers")
  void isPlaced(String name, String json, Kind kind, @Nullable Head head) {
    CutPlan placement = CutPlanner.of(TokenizerShape.read(json));
    assertThat(placement.kind()).as(placement.reason()).isEqualTo(kind);
    if (head != null) {
      assertThat(placement.head()).isEqualTo(head);
    }
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("tokenizers")
  void piecesGiveTheTokensOfTheWhole(String name, String json) {
    CutPlan placement = CutPlanner.of(TokenizerShape.read(json));
    try (CheckRig rig = new CheckRig(json, placement.head())) {
      assertThat(rig.check().mismatches(placement, 400, 400)).isZero();
    }
  }

  private static Arguments of(
      String name, TinyTokenizer tokenizer, Kind kind, @Nullable Head head) {
    return Arguments.of(name, tokenizer.token("<t>").token("<|x|>").json(), kind, head);
  }

  private static TinyTokenizer bytes() {
    return TinyTokenizer.byteLevel(BYTES);
  }

  private static TinyTokenizer llama3() {
    return bytes().splitByPatterns(TinyTokenizer.LLAMA3);
  }

  private static TinyTokenizer chars() {
    return TinyTokenizer.blanks(CHARS);
  }

  private static TinyTokenizer unigram() {
    return TinyTokenizer.unigram("\u2581a", "he", "\u2581", "a", "h", "e", "l", "o", "<", ">");
  }
}
