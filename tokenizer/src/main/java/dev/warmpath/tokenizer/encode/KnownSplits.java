package dev.warmpath.tokenizer.encode;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The pre-tokenizers for whose patterns a cut rule is proven, compared as text. */
final class KnownSplits {

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
  private static final String WORDS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|";
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
            ? isPattern(steps.get(0), "Removed", true) || isPattern(steps.get(0), "Isolated", false)
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
