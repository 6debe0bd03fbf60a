package dev.warmpath.tokenizer.deepseek;

import dev.warmpath.tokenizer.chat.ChatRequest;
import dev.warmpath.tokenizer.chat.TemplateArguments;
import dev.warmpath.tokenizer.template.syntax.Budget;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

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
  private final StringBuilder out = new StringBuilder(Marks.BEGIN);

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
        case "user" -> out.append(Marks.USER).append(message.content());
        case "latest_reminder" -> out.append(Marks.REMINDER).append(message.content());
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
    out.append(Marks.USER).append(message.content()).append(tools(message));
  }

  /** The answer to a task has no reasoning. */
  private void addAnswer(int i, DeepSeekMessage message) {
    boolean ofTask = i > 0 && messages.get(i - 1).task() != null;
    if (thinking.isOn() && !ofTask && (showsAllReasoning || i > lastQuestion)) {
      out.append(message.reasoning()).append(Marks.END_THINK);
    }
    out.append(message.content()).append(dsml.calls(message.calls())).append(Marks.END);
  }

  /** A system message opens an answer as well, if that follows it or is to be made. */
  private void openAnswer(int i, DeepSeekMessage message, String next) {
    String task = message.task();
    if (task != null) {
      addTask(task);
    } else if (message.isQuestion() || (message.is("system") && next.equals("assistant"))) {
      boolean thinks = thinking.isOn() && (showsAllReasoning || i >= lastQuestion);
      out.append(Marks.ASSISTANT).append(thinks ? Marks.THINK : Marks.END_THINK);
    }
  }

  private void addTask(String task) {
    if (!TASKS.contains(task)) {
      throw DeepSeekChats.refused("an unknown task");
    }
    if (task.equals("action")) {
      out.append(Marks.ASSISTANT).append(thinking.isOn() ? Marks.THINK : Marks.END_THINK);
    }
    out.append("<｜").append(task).append("｜>");
  }
}
