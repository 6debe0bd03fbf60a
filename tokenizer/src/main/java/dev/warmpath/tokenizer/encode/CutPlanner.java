package dev.warmpath.tokenizer.encode;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.tokenizer.encode.CutPlan.Head;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
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

  /**
   * The cut rule of tokenizers that write blanks as U+2581 and let byte pair encoding loose on
   * whole texts: a blank may be cut off where no entry of the vocabulary reaches over its left
   * side.
   */
  private static final class MergeReach {

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

  /** The pre-tokenizers for whose patterns a cut rule is proven, compared as text. */
  private static final class KnownSplits {

    /*
     * Before a blank or tab behind a plain character: no pattern here has white space anywhere but
     * first in a match or behind other white space, none looks back, and the only one that looks ahead
     * (\s+(?!\S)) stands inside the white space that the plain character ends. So every split ends at
     * the cut, with or without what follows.
     *
     * Behind a line break before a plain character that is no slash: [\r\n]* and [\r\n]+ end there
     * (o200k's [\r\n/]* is why the slash is out), and \s*[\r\n]+ is tried before \s+(?!\S), so white
     * space with a line break in it is split alike with and without what follows. GPT-2's pattern has
     * no \s*[\r\n]+: there "  \n" before a letter splits otherwise than alone.
     *
     * A split of digits before GPT-2's goes through each digit's edges, whatever stands beside it. One
     * of these patterns alone leaves no character out, so to remove what it leaves is to isolate what
     * it finds.
     *
     * NFC composes neither across white space nor with it.
     */
    private static final String TAIL = "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
    private static final String WORDS =
        "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|";
    private static final String SYMBOLS = "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*";
    private static final String MARKED_WORDS =
        "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|";
    private static final String MARKED_SYMBOLS = "| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*";
    private static final String PATHS = "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*";
    private static final String CONTRACTION = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?";
    private static final String DEEPSEEK =
        "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+"
            + "|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*"
            + "|\\s*[\r\n]+|\\s+(?!\\S)|\\s+";

    /** The patterns in order, and what the family is called. */
    private static final Map<List<String>, String> SPACES_AND_LINES =
        Map.of(
            List.of(WORDS + "\\p{N}" + SYMBOLS + TAIL), "Qwen 2 and 3",
            List.of(WORDS + "\\p{N}{1,3}" + SYMBOLS + TAIL), "Llama 3",
            List.of(MARKED_WORDS + "\\p{N}" + MARKED_SYMBOLS + TAIL), "Qwen 3.5",
            List.of(cases(CONTRACTION) + "|\\p{N}{1,3}" + PATHS + TAIL), "o200k",
            List.of(cases("") + "|\\p{N}" + PATHS + TAIL), "Tekken",
            List.of("\\p{N}{1,3}", "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+", DEEPSEEK),
                "DeepSeek 3");

    private KnownSplits() {}

    /** Words by the case of their letters, with this behind them. */
    private static String cases(String suffix) {
      return "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+"
          + suffix
          + "|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*"
          + suffix;
    }

    /** The rule for this tokenizer, if its pre-tokenizer is one of the known. */
    static Optional<CutPlan.Inside> rule(TokenizerShape shape) {
      boolean normalizerFits =
          shape.normalizers().stream().allMatch(node -> TokenizerShape.isType(node, "NFC"));
      List<JsonNode> steps = shape.preTokenizers();
      if (!normalizerFits || steps.isEmpty()) {
        return Optional.empty();
      }
      JsonNode last = steps.get(steps.size() - 1);
      if (!TokenizerShape.isType(last, "ByteLevel")
          || last.path("add_prefix_space").asBoolean(true)) {
        return Optional.empty();
      }
      if (last.path("use_regex").asBoolean(true)) {
        return steps.subList(0, steps.size() - 1).stream().allMatch(KnownSplits::isDigits)
            ? Optional.of(new CutPlan.Inside(CutRule.spaces(), "GPT-2's splits"))
            : Optional.empty();
      }
      return known(steps.subList(0, steps.size() - 1));
    }

    private static Optional<CutPlan.Inside> known(List<JsonNode> steps) {
      boolean known =
          steps.size() == 1
              ? isPattern(steps.get(0), "Removed", true)
                  || isPattern(steps.get(0), "Isolated", false)
              : steps.stream().allMatch(step -> isPattern(step, "Isolated", false));
      if (!known) {
        return Optional.empty();
      }
      List<String> patterns =
          steps.stream().map(step -> step.path("pattern").path("Regex").asText()).toList();
      return Optional.ofNullable(SPACES_AND_LINES.get(patterns))
          .map(name -> new CutPlan.Inside(CutRule.spacesAndLines(), name + "'s splits"));
    }

    private static boolean isPattern(JsonNode step, String behavior, boolean invert) {
      return TokenizerShape.isType(step, "Split")
          && step.path("pattern").has("Regex")
          && step.path("behavior").asText().equals(behavior)
          && step.path("invert").asBoolean() == invert;
    }

    private static boolean isDigits(JsonNode step) {
      return TokenizerShape.isType(step, "Digits");
    }
  }
}
