package dev.warmpath.tokenizer.harmony;

import dev.warmpath.tokenizer.body.InexactPromptException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * System and developer messages of one prompt.
 *
 * <p>Confined to its thread.
 */
final class Preamble {
  private static final Set<String> EFFORTS = Set.of("low", "medium", "high");
  private static final String USUAL_EFFORT = "medium";
  private static final String IDENTITY =
      "You are ChatGPT, a large language model trained by OpenAI.";
  private static final String CHANNELS =
      "# Valid channels: analysis, commentary, final. Channel must be included for every message.";
  private static final String TOOLS_CHANNEL =
      "\nCalls to these tools must go to the commentary channel: 'functions'.";

  private final String date;
  private final boolean instructsSystem;
  private final FunctionTools tools;

  /** With {@code instructsSystem} instructions stand in the system message. */
  Preamble(String date, boolean instructsSystem, FunctionTools tools) {
    this.date = date;
    this.instructsSystem = instructsSystem;
    this.tools = tools;
  }

  /**
   * The effort of a request that asks for this one, or for none.
   *
   * @throws InexactPromptException if the engine does not know it
   */
  static String effort(@Nullable String asked) {
    if (asked != null && !EFFORTS.contains(asked)) {
      throw InexactPromptException.invalid("the reasoning effort is none of low, medium and high");
    }
    return asked == null ? USUAL_EFFORT : asked;
  }

  /** Adds what stands before the conversation; null is no instructions. */
  void addTo(HarmonyConversation conversation, @Nullable String instructions, String effort) {
    String ofSystem = instructsSystem ? instructions : null;
    conversation.add(system(ofSystem, effort));
    String ofDeveloper = instructsSystem ? null : instructions;
    if ((ofDeveloper != null && !ofDeveloper.isEmpty()) || !tools.isEmpty()) {
      conversation.add(developer(ofDeveloper, tools));
    }
  }

  /** A system or developer message within the conversation. */
  HarmonyMessage later(String role, String instructions) {
    if (!instructsSystem) {
      return developer(instructions, FunctionTools.NONE);
    }
    return role.equals("system")
        ? system(instructions, USUAL_EFFORT)
        : developer(null, FunctionTools.NONE);
  }

  private HarmonyMessage system(@Nullable String instructions, String effort) {
    String text =
        IDENTITY
            + (instructions == null ? "" : "\n" + instructions)
            + "\nKnowledge cutoff: 2024-06\nCurrent date: "
            + date
            + "\n\nReasoning: "
            + effort
            + "\n\n"
            + CHANNELS
            + (tools.isEmpty() ? "" : TOOLS_CHANNEL);
    return HarmonyMessage.of("system", List.of(text));
  }

  private static HarmonyMessage developer(@Nullable String instructions, FunctionTools tools) {
    List<String> sections = new ArrayList<>();
    if (instructions != null) {
      sections.add("# Instructions");
      sections.add(instructions);
    }
    if (!tools.isEmpty()) {
      sections.add(tools.section());
    }
    return HarmonyMessage.of("developer", List.of(String.join("\n\n", sections)));
  }
}
