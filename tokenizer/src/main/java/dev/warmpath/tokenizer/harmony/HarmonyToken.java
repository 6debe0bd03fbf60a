package dev.warmpath.tokenizer.harmony;

import dev.warmpath.tokenizer.encode.SpecialPlaceholders;
import dev.warmpath.tokenizer.files.ModelFiles;
import java.util.Arrays;
import java.util.Locale;
import java.util.regex.Pattern;

/** The special tokens of Harmony prompts, with their ids in the engine's own vocabulary. */
enum HarmonyToken {
  CHANNEL(200_005),
  START(200_006),
  END(200_007),
  MESSAGE(200_008),
  CALL(200_012);

  /** Texts that the engine takes for special tokens where it does not allow any. */
  private static final Pattern RESERVED =
      Pattern.compile(
          "<\\|(startoftext|endoftext|return|constrain|channel|start|end|message|call"
              + "|reserved_20[01][0-9]{3})\\|>");

  private final int id;

  HarmonyToken(int id) {
    this.id = id;
  }

  /** How the token is written in a text. */
  String placeholder() {
    return SpecialPlaceholders.of(ordinal());
  }

  /** The ids of the tokens, in the order of their placeholders. */
  static int[] ids() {
    return Arrays.stream(values()).mapToInt(token -> token.id).toArray();
  }

  /** Whether a model's own vocabulary has the tokens where the engine's has them. */
  static boolean areIn(ModelFiles files) {
    return Arrays.stream(values())
        .allMatch(token ->
            files.tokenizer().addedTokens().stream()
                .anyMatch(added -> added.id() == token.id && added.content().equals(token.text())));
  }

  /** Whether {@code text} holds what looks like a special token. */
  static boolean isIn(String text) {
    return RESERVED.matcher(text).find();
  }

  private String text() {
    return "<|" + name().toLowerCase(Locale.ROOT) + "|>";
  }
}
