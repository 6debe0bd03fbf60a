package dev.warmpath.tokenizer.deepseek;

import dev.warmpath.tokenizer.chat.ChatRequest;
import dev.warmpath.tokenizer.chat.TemplateArguments;
import dev.warmpath.tokenizer.deepseek.DeepSeekMessage.DeepSeekToolCall;
import dev.warmpath.tokenizer.template.syntax.Budget;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Writes the prompt of DeepSeek V4: results of tools stand in the user's message, an effort before
 * all, and with tools the reasoning of all answers is shown.
 *
 * <p>Confined to its thread.
 */
final class V4Prompt {
  private static final Set<String> KEPT =
      Set.of("user", "system", "latest_reminder", "direct_search_results");
  private static final Set<String> TASKS =
      Set.of("action", "query", "authority", "domain", "title", "read_url");

  private static final String BEFORE_SCHEMAS =
      """
      ## Tools

      You have access to a set of tools to help answer the user's question. You can invoke tools by writing a "<｜DSML｜tool_calls>" block like the following:

      <｜DSML｜tool_calls>
      <｜DSML｜invoke name="$TOOL_NAME">
      <｜DSML｜parameter name="$PARAMETER_NAME" string="true|false">$PARAMETER_VALUE</｜DSML｜parameter>
      ...
      </｜DSML｜invoke>
      <｜DSML｜invoke name="$TOOL_NAME2">
      ...
      </｜DSML｜invoke>
      </｜DSML｜tool_calls>

      String parameters should be specified as is and set `string="true"`. For all other types (numbers, booleans, arrays, objects), pass the value in JSON format and set `string="false"`.

      If thinking_mode is enabled (triggered by <think>), you MUST output your complete reasoning inside <think>...</think> BEFORE any tool calls or final response.

      Otherwise, output directly after </think> with tool calls or final response.

      ### Available Tool Schemas

      """;

  private static final String BEHIND_SCHEMAS =
      """


      You MUST strictly follow the above defined tool name and parameter schemas to invoke tool calls.
      """;

  private final List<DeepSeekMessage> messages;
  private final V4Thinking thinking;
  private final boolean showsAllReasoning;
  private final int lastQuestion;
  private final Dsml dsml;
  private final StringBuilder out = new StringBuilder(Dsml.Marks.BEGIN);

  private V4Prompt(
      List<DeepSeekMessage> messages,
      V4Thinking thinking,
      boolean showsAllReasoning,
      Budget budget) {
    this.messages = messages;
    this.thinking = thinking;
    this.showsAllReasoning = showsAllReasoning;
    this.lastQuestion = DeepSeekMessage.lastQuestion(messages);
    this.dsml = new Dsml(budget, "tool_calls");
  }

  /** The prompt of a chat. */
  static String of(ChatRequest chat, Budget budget) {
    TemplateArguments arguments = chat.arguments();
    V4Thinking thinking = V4Thinking.of(arguments);
    List<DeepSeekMessage> given = DeepSeekMessage.listOf(chat.messages(true));
    if (chat.tools() instanceof List<?> tools && !tools.isEmpty()) {
      addTools(given, tools);
    }
    List<DeepSeekMessage> messages = UserTurns.merge(given);
    boolean keepsAll =
        arguments.has("drop_thinking") && !DeepSeekChats.isTrue(arguments, "drop_thinking");
    boolean showsAll = keepsAll || messages.stream().anyMatch(m -> !m.tools().isEmpty());
    List<DeepSeekMessage> shown =
        thinking.isOn() && !showsAll ? withoutOldReasoning(messages) : messages;
    return new V4Prompt(shown, thinking, showsAll, budget).write();
  }

  private static void addTools(List<DeepSeekMessage> messages, List<?> tools) {
    int system = 0;
    while (system < messages.size() && !messages.get(system).is("system")) {
      system++;
    }
    if (system == messages.size()) {
      messages.add(0, DeepSeekMessage.system());
      system = 0;
    }
    messages.set(system, messages.get(system).with("tools", tools));
  }

  private static List<DeepSeekMessage> withoutOldReasoning(List<DeepSeekMessage> messages) {
    int lastQuestion = DeepSeekMessage.lastQuestion(messages);
    List<DeepSeekMessage> shown = new ArrayList<>();
    for (int i = 0; i < messages.size(); i++) {
      DeepSeekMessage message = messages.get(i);
      if (i >= lastQuestion || KEPT.contains(message.role())) {
        shown.add(message);
      } else if (message.is("assistant")) {
        shown.add(message.with("reasoning", null));
      }
    }
    return shown;
  }

  private String write() {
    out.append(thinking.opening());
    for (int i = 0; i < messages.size(); i++) {
      DeepSeekMessage message = messages.get(i);
      switch (message.role()) {
        case "system" -> out.append(message.content()).append(tools(message));
        case "developer" -> addDeveloper(message);
        case "user" -> out.append(Dsml.Marks.USER).append(message.content());
        case "latest_reminder" -> out.append(Dsml.Marks.REMINDER).append(message.content());
        case "assistant" -> addAnswer(i, message);
        default -> throw DeepSeekChats.refused("an unknown role");
      }
      String next = i + 1 < messages.size() ? messages.get(i + 1).role() : "assistant";
      if (next.equals("assistant") || next.equals("latest_reminder")) {
        openAnswer(i, message, next);
      }
    }
    return out.toString();
  }

  private String tools(DeepSeekMessage message) {
    return message.tools().isEmpty()
        ? ""
        : "\n\n" + BEFORE_SCHEMAS + dsml.schemas(message.tools()) + BEHIND_SCHEMAS;
  }

  private void addDeveloper(DeepSeekMessage message) {
    if (message.content().isEmpty()) {
      throw DeepSeekChats.refused("a developer message without content");
    }
    out.append(Dsml.Marks.USER).append(message.content()).append(tools(message));
  }

  /** The answer to a task has no reasoning. */
  private void addAnswer(int i, DeepSeekMessage message) {
    boolean ofTask = i > 0 && messages.get(i - 1).task() != null;
    if (thinking.isOn() && !ofTask && (showsAllReasoning || i > lastQuestion)) {
      out.append(message.reasoning()).append(Dsml.Marks.END_THINK);
    }
    out.append(message.content()).append(dsml.calls(message.calls())).append(Dsml.Marks.END);
  }

  /** A system message opens an answer as well, if that follows it or is to be made. */
  private void openAnswer(int i, DeepSeekMessage message, String next) {
    String task = message.task();
    if (task != null) {
      addTask(task);
    } else if (message.isQuestion() || (message.is("system") && next.equals("assistant"))) {
      boolean thinks = thinking.isOn() && (showsAllReasoning || i >= lastQuestion);
      out.append(Dsml.Marks.ASSISTANT).append(thinks ? Dsml.Marks.THINK : Dsml.Marks.END_THINK);
    }
  }

  private void addTask(String task) {
    if (!TASKS.contains(task)) {
      throw DeepSeekChats.refused("an unknown task");
    }
    if (task.equals("action")) {
      out.append(Dsml.Marks.ASSISTANT)
          .append(thinking.isOn() ? Dsml.Marks.THINK : Dsml.Marks.END_THINK);
    }
    out.append("<｜").append(task).append("｜>");
  }

  /**
   * Makes one message of the user of each run of user messages and results of tools. Results stand
   * in the order of their calls, on the places that results have.
   *
   * <p>Confined to its thread.
   */
  private static final class UserTurns {

    /** A text of the user, or a result with the place of its call. */
    private record Block(String text, boolean isResult, int place) {}

    private final List<DeepSeekMessage> merged = new ArrayList<>();
    private final List<Block> turn = new ArrayList<>();
    private final Map<String, Integer> places = new HashMap<>();
    private @Nullable String task;

    private UserTurns() {}

    static List<DeepSeekMessage> merge(List<DeepSeekMessage> messages) {
      UserTurns turns = new UserTurns();
      messages.forEach(turns::add);
      turns.endTurn();
      return turns.merged;
    }

    private void add(DeepSeekMessage message) {
      if (message.is("tool")) {
        String text = "<tool_result>" + message.contentWithNotes() + "</tool_result>";
        turn.add(new Block(text, true, places.getOrDefault(message.toolCallId(), 0)));
      } else if (message.is("user")) {
        addText(message);
      } else {
        endTurn();
        learnPlaces(message);
        merged.add(message);
      }
    }

    /** A task ends its turn, and only the first message of a turn can have one. */
    private void addText(DeepSeekMessage message) {
      if (task != null) {
        endTurn();
      }
      if (turn.isEmpty()) {
        task = message.task();
      }
      turn.add(new Block(message.content(), false, 0));
    }

    private void endTurn() {
      if (turn.isEmpty()) {
        return;
      }
      Iterator<Block> results =
          turn.stream()
              .filter(Block::isResult)
              .sorted(Comparator.comparingInt(Block::place))
              .iterator();
      List<String> texts = new ArrayList<>();
      for (Block block : turn) {
        texts.add(block.isResult() ? results.next().text() : block.text());
      }
      merged.add(DeepSeekMessage.user(String.join("\n\n", texts), task));
      turn.clear();
      task = null;
    }

    private void learnPlaces(DeepSeekMessage message) {
      if (!message.is("assistant") || message.callCount() == 0) {
        return;
      }
      places.clear();
      List<DeepSeekToolCall> calls = message.calls();
      for (int i = 0; i < calls.size(); i++) {
        if (!calls.get(i).id().isEmpty()) {
          places.put(calls.get(i).id(), i);
        }
      }
    }
  }

  /**
   * Whether DeepSeek V4 is to think, and how hard.
   *
   * @param isOn whether it is to think at all
   * @param opening what the effort puts before the messages
   */
  private record V4Thinking(boolean isOn, String opening) {
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
}
