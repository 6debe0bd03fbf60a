package dev.warmpath.tokenizer.harmony;

import dev.warmpath.tokenizer.body.InexactPromptException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One message as Harmony writes it.
 *
 * @param header the author, and the recipient of a call
 * @param channel what stands behind the channel mark, or null for no channel
 * @param contents texts that are encoded apart
 * @param end the token that ends it
 */
record HarmonyMessage(
    String header, @Nullable String channel, List<String> contents, HarmonyToken end) {
  private static final String ASSISTANT = "assistant";
  private static final String ANALYSIS = "analysis";
  private static final String COMMENTARY = "commentary";
  private static final String FINAL = "final";

  /** What somebody other than the model or a tool says. */
  static HarmonyMessage of(String role, List<String> contents) {
    return new HarmonyMessage(role, null, contents, HarmonyToken.END);
  }

  /** Thoughts of the model. */
  static HarmonyMessage analysis(String text) {
    return new HarmonyMessage(ASSISTANT, ANALYSIS, List.of(text), HarmonyToken.END);
  }

  /** What the model says before it calls. */
  static HarmonyMessage commentary(String text) {
    return new HarmonyMessage(ASSISTANT, COMMENTARY, List.of(text), HarmonyToken.END);
  }

  /** An answer of the model. */
  static HarmonyMessage answer(List<String> contents) {
    return new HarmonyMessage(ASSISTANT, FINAL, contents, HarmonyToken.END);
  }

  /**
   * A call of a tool.
   *
   * @throws InexactPromptException if the engine cannot write its name
   */
  static HarmonyMessage call(String name, String arguments) {
    if (HarmonyToken.isIn(name)) {
      throw InexactPromptException.invalid("a called tool's name with the text of a special token");
    }
    return new HarmonyMessage(
        ASSISTANT + " to=functions." + name,
        COMMENTARY + " json",
        List.of(arguments),
        HarmonyToken.CALL);
  }

  /** What a tool answered. */
  static HarmonyMessage result(String name, String text) {
    return new HarmonyMessage(
        "functions." + name, COMMENTARY + " to=" + ASSISTANT, List.of(text), HarmonyToken.END);
  }

  boolean isAnalysis() {
    return ANALYSIS.equals(channel);
  }

  boolean isAnswer() {
    return FINAL.equals(channel);
  }
}
