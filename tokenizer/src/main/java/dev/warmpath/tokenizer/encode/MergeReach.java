package dev.warmpath.tokenizer.encode;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The cut rule of tokenizers that write blanks as U+2581 and let byte pair encoding loose on whole
 * texts: a blank may be cut off where no entry of the vocabulary reaches over its left side.
 */
final class MergeReach {

  /*
   * A merge makes an entry of the vocabulary out of two neighbours, so a merge over x|y needs an
   * entry with x and y side by side. The exceptions are what the vocabulary does not show: bytes that
   * stand for a character (checked: no longer entry holds one), unknown characters that are fused
   * (the blank is known, so it ends them), affixes of words and dropout (refused).
   */
  private static final char BLANK = '\u2581';
  private static final String BLANK_TEXT = "\u2581";

  private static final Pattern BYTE = Pattern.compile("<0x[0-9A-Fa-f]{2}>");
  private static final int BYTE_CHARS = 6;

  private MergeReach() {}

  /** The rule for this tokenizer, if it is of this kind. */
  static Optional<CutPlan.Inside> rule(TokenizerShape shape) {
    if (!isBytePairs(shape.model()) || !writesBlanks(shape) || !splitsNothing(shape)) {
      return Optional.empty();
    }
    if (!shape.vocabulary().containsKey(BLANK_TEXT) || bytesMerge(shape)) {
      return Optional.empty();
    }
    BitSet reached = new BitSet();
    shape.vocabulary().keySet().forEach(token -> addReached(token, reached));
    return Optional.of(new CutPlan.Inside(CutRule.blanksNotAfter(reached), "merges' reach"));
  }

  private static void addReached(String token, BitSet reached) {
    for (int at = token.indexOf(BLANK, 1); at > 0; at = token.indexOf(BLANK, at + 1)) {
      reached.set(token.charAt(at - 1));
    }
  }

  private static boolean isBytePairs(JsonNode model) {
    return TokenizerShape.isType(model, "BPE")
        && isEmpty(model.path("continuing_subword_prefix"))
        && isEmpty(model.path("end_of_word_suffix"));
  }

  private static boolean isEmpty(JsonNode affix) {
    return affix.asText("").isEmpty() || affix.isNull();
  }

  private static boolean writesBlanks(TokenizerShape shape) {
    List<JsonNode> steps = shape.normalizers();
    boolean prepends = steps.size() == 2 && CutPlanner.isPrepend(steps.get(0));
    boolean replaces =
        !steps.isEmpty()
            && TokenizerShape.isReplace(steps.get(steps.size() - 1), " ", BLANK_TEXT)
            && (steps.size() == 1 || prepends);
    return replaces || (steps.isEmpty() && isUnsplitMetaspace(shape.preTokenizers()));
  }

  /** No pre-tokenizer, or one that looks for the blanks that the normalizer has replaced. */
  private static boolean splitsNothing(TokenizerShape shape) {
    List<JsonNode> steps = shape.preTokenizers();
    return shape.normalizers().isEmpty()
        ? isUnsplitMetaspace(steps)
        : steps.stream()
            .allMatch(step ->
                TokenizerShape.isType(step, "Split")
                    && step.path("pattern").path("String").asText().equals(" "));
  }

  private static boolean isUnsplitMetaspace(List<JsonNode> steps) {
    return steps.size() == 1
        && CutPlanner.isMetaspace(steps.get(0))
        && !steps.get(0).path("split").asBoolean(true);
  }

  private static boolean bytesMerge(TokenizerShape shape) {
    return shape.vocabulary().keySet().stream()
        .anyMatch(token -> token.length() > BYTE_CHARS && BYTE.matcher(token).find());
  }
}
