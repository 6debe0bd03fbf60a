package dev.warmpath.tokenizer.deepseek;

import dev.warmpath.tokenizer.deepseek.DeepSeekMessage.DeepSeekToolCall;
import dev.warmpath.tokenizer.template.syntax.Budget;
import dev.warmpath.tokenizer.template.value.JsonText;
import dev.warmpath.tokenizer.template.value.Values;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Writes tools as JSON, and their calls in DeepSeek's markup.
 *
 * <p>Confined to its thread.
 */
final class Dsml {
  private static final String TOKEN = "｜DSML｜";

  private final Budget budget;
  private final String block;

  /** With the name of the block of calls. */
  Dsml(Budget budget, String block) {
    this.budget = budget;
    this.block = block;
  }

  /** The tools' functions, one a line. */
  String schemas(List<?> tools) {
    StringBuilder text = new StringBuilder();
    for (Object tool : tools) {
      if (!(tool instanceof Map<?, ?> map && map.containsKey("function"))) {
        throw DeepSeekChats.refused("a tool without function");
      }
      text.append(text.isEmpty() ? "" : "\n").append(json(map.get("function")));
    }
    return text.toString();
  }

  /** The block of these calls behind a blank line; nothing for none. */
  String calls(List<DeepSeekToolCall> calls) {
    if (calls.isEmpty()) {
      return "";
    }
    StringBuilder text = new StringBuilder("\n\n<" + TOKEN + block + ">\n");
    for (DeepSeekToolCall call : calls) {
      text.append("<" + TOKEN + "invoke name=\"").append(call.name()).append("\">\n");
      addArguments(call, text);
      text.append("\n</" + TOKEN + "invoke>\n");
    }
    return text.append("</" + TOKEN).append(block).append('>').toString();
  }

  private void addArguments(DeepSeekToolCall call, StringBuilder text) {
    String separator = "";
    for (Map.Entry<String, @Nullable Object> argument : call.arguments().entrySet()) {
      Object value = argument.getValue();
      boolean isText = value instanceof String;
      text.append(separator).append("<" + TOKEN + "parameter name=\"").append(argument.getKey());
      text.append("\" string=\"").append(isText).append("\">");
      text.append(isText ? value : json(value)).append("</" + TOKEN + "parameter>");
      separator = "\n";
    }
  }

  private String json(@Nullable Object value) {
    return JsonText.of(budget, Values.of(value), JsonText.Form.DEFAULT);
  }

  /** The special tokens of the prompts, as text. */
  static final class Marks {
    static final String BEGIN = "<｜begin▁of▁sentence｜>";
    static final String END = "<｜end▁of▁sentence｜>";
    static final String USER = "<｜User｜>";
    static final String ASSISTANT = "<｜Assistant｜>";
    static final String REMINDER = "<｜latest_reminder｜>";
    static final String THINK = "<think>";
    static final String END_THINK = "</think>";

    private Marks() {}
  }
}
