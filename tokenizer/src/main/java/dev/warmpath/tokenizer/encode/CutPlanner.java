package dev.warmpath.tokenizer.encode;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.tokenizer.encode.CutPlan.Head;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Decides where the texts of a tokenizer may be cut, from what its file says. What is not known is
 * not cut.
 */
final class CutPlanner {

  /** Pre-tokenizers that look at each rest alone, wherever it stands. */
  private static final Set<String> LOCAL_STEPS =
      Set.of(
          "BertPreTokenizer",
          "ByteLevel",
          "CharDelimiterSplit",
          "Digits",
          "Metaspace",
          "Punctuation",
          "Split",
          "UnicodeScripts",
          "Whitespace",
          "WhitespaceSplit");

  private CutPlanner() {}

  /** The placement that is proven for this tokenizer. */
  public static CutPlan of(TokenizerShape shape) {
    String obstacle = obstacle(shape);
    if (obstacle != null) {
      return CutPlan.whole(obstacle);
    }
    AddedTokens tokens = new AddedTokens(shape.addedTokens());
    Optional<CutPlan.Inside> inside =
        KnownSplits.rule(shape).or(() -> MergeReach.rule(shape)).or(() -> metaspaceRule(shape));
    Head head = head(shape);
    if (head != Head.NONE && shape.addedTokens().stream().anyMatch(AddedToken::flagged)) {
      return CutPlan.betweenTokens(tokens, head, "added tokens take white space along");
    }
    return inside
        .map(rule -> CutPlan.inside(tokens, rule, head))
        .orElseGet(() -> CutPlan.betweenTokens(tokens, head, "no rule for this pre-tokenizer"));
  }

  /** What forbids even cuts at added tokens; null if nothing does. */
  private static @Nullable String obstacle(TokenizerShape shape) {
    List<AddedToken> tokens = shape.addedTokens();
    if (tokens.stream().anyMatch(AddedToken::singleWord)) {
      return "an added token counts as a single word only";
    }
    if (!shape.normalizers().isEmpty() && tokens.stream().anyMatch(AddedToken::normalized)) {
      return "an added token is looked for in normalized text";
    }
    if (tokens.stream().anyMatch(AddedToken::flagged)
        && tokens.stream().anyMatch(AddedToken::bordersOnSpace)) {
      return "added tokens take white space along, and others begin with it";
    }
    if (shape.model().path("dropout").asDouble() != 0) {
      return "the model drops merges at random";
    }
    return unknownStep(shape);
  }

  private static @Nullable String unknownStep(TokenizerShape shape) {
    for (JsonNode step : shape.preTokenizers()) {
      String type = step.path("type").asText();
      if (!LOCAL_STEPS.contains(type)) {
        return "unknown pre-tokenizer " + type;
      }
    }
    if (beginsTexts(shape) && (shape.preTokenizers().size() > 1 || prependsRests(shape))) {
      return "the first word is begun in more than one way";
    }
    boolean oddPrepend =
        shape.normalizers().stream()
            .anyMatch(node -> TokenizerShape.isType(node, "Prepend") && !isPrepend(node));
    return oddPrepend ? "something else than a blank is put in front" : null;
  }

  /**
   * A Metaspace that splits does so before each blank; what then begins with a blank gets none in
   * front.
   */
  private static Optional<CutPlan.Inside> metaspaceRule(TokenizerShape shape) {
    List<JsonNode> steps = shape.preTokenizers();
    boolean splits =
        shape.normalizers().isEmpty()
            && steps.size() == 1
            && isMetaspace(steps.get(0))
            && steps.get(0).path("split").asBoolean(true);
    return splits
        ? Optional.of(new CutPlan.Inside(CutRule.blanksNotAfter(new BitSet()), "Metaspace"))
        : Optional.empty();
  }

  private static Head head(TokenizerShape shape) {
    if (prependsRests(shape)) {
      return Head.REST;
    }
    return beginsTexts(shape) ? Head.TEXT : Head.NONE;
  }

  private static boolean prependsRests(TokenizerShape shape) {
    return shape.normalizers().stream().anyMatch(CutPlanner::isPrepend);
  }

  private static boolean beginsTexts(TokenizerShape shape) {
    return shape.preTokenizers().stream()
        .anyMatch(step -> step.path("prepend_scheme").asText().equals("first"));
  }

  /** Whether this normalizer puts a blank in front of each rest. */
  static boolean isPrepend(JsonNode node) {
    return TokenizerShape.isType(node, "Prepend") && node.path("prepend").asText().equals("\u2581");
  }

  /** Whether this pre-tokenizer writes blanks as U+2581. */
  static boolean isMetaspace(JsonNode node) {
    return TokenizerShape.isType(node, "Metaspace")
        && node.path("replacement").asText().equals("\u2581");
  }
}
