package dev.warmpath.tokenizer.deepseek;

import dev.warmpath.tokenizer.chat.TemplateArguments;
import org.jspecify.annotations.Nullable;

/**
 * Whether DeepSeek V4 is to think, and how hard.
 *
 * @param isOn whether it is to think at all
 * @param opening what the effort puts before the messages
 */
record V4Thinking(boolean isOn, String opening) {
  private static final V4Thinking OFF = new V4Thinking(false, "");

  private static final String HIGH =
      """
      Reasoning Effort: Absolute maximum with no shortcuts permitted.
      You MUST be very thorough in your thinking and comprehensively decompose the problem to resolve the root cause, rigorously stress-testing your logic against all potential paths, edge cases, and adversarial scenarios.
      Explicitly write out your entire deliberation process, documenting every intermediate step, considered alternative, and rejected hypothesis to ensure absolutely no assumption is left unchecked.

      """;

  private static final String MAX =
      """
      Reasoning Effort: Beyond maximum — exhaustive, relentless, and uncompromising.
      You MUST reason with the utmost depth and rigor, leaving absolutely nothing to chance: exhaustively decompose the problem into its most fundamental components, trace every causal chain to its root, and resolve the underlying cause rather than any surface symptom.
      Do not stop reasoning until you have independently verified the solution from multiple angles and are certain that no assumption remains unchecked and no error remains undiscovered.

      """;

  static V4Thinking of(TemplateArguments arguments) {
    boolean asked = arguments.has("thinking") || arguments.has("enable_thinking");
    boolean on =
        !asked
            || DeepSeekChats.isTrue(arguments, "thinking")
            || DeepSeekChats.isTrue(arguments, "enable_thinking");
    Object effort = arguments.value("reasoning_effort");
    return on && !"none".equals(effort) ? new V4Thinking(true, opening(effort)) : OFF;
  }

  private static String opening(@Nullable Object effort) {
    if (!(effort instanceof String name)) {
      return HIGH;
    }
    return switch (name) {
      case "low", "minimal", "medium" -> "";
      case "max" -> MAX;
      default -> HIGH;
    };
  }
}
