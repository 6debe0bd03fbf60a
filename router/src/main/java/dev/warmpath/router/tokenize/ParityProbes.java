package dev.warmpath.router.tokenize;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.router.tokenize.ParityCheck.Question;
import dev.warmpath.tokenizer.ModelTokenizer;
import dev.warmpath.tokenizer.RequestKind;
import java.util.ArrayList;
import java.util.List;

/**
 * Texts and chats that tokenizers of different kinds or releases cut differently, if any are.
 *
 * <p>Immutable.
 */
final class ParityProbes {

  private static final ObjectMapper JSON = new ObjectMapper();

  private static final List<String> TEXTS =
      List.of(
          "The quick brown fox jumps over 13 lazy dogs, 1234567 times.",
          "  two blanks,\ta tab,\r\n and\n\n\n  lines  ",
          "don't we'll it's I'VE <b>&amp;</b> {\"a\": [1, -2.5e-3]}",
          "def f(x):\n    return x ** 2  # x²\n",
          "e\u0301 \u00e9 \u1e9b\u0323 \u212b \ufb01 \u00a0\u2003\u200b",
          "\u65e5\u672c\u8a9e\u306e\u6587\u3001\ud55c\uad6d\uc5b4 \u0939\u093f\u0928\u094d\u0926\u0940"
              + " \u0627\u0644\u0639\u0631\u0628\u064a\u0629",
          "\ud83d\udc69\u200d\ud83d\udcbb \ud83c\uddf3\ud83c\uddf1 \u2764\ufe0f \u2581x \u2581",
          "https://example.org/a?b=c&d=%20#e ------------ ............");

  private ParityProbes() {}

  /** All of them for one model. */
  static List<Question> of(String model, ModelTokenizer tokenizer) {
    List<Question> probes = new ArrayList<>();
    for (String text : TEXTS) {
      ObjectNode request = JSON.createObjectNode().put("model", model).put("prompt", text);
      probes.add(new Question(tokenizer, RequestKind.COMPLETION, request));
    }
    for (ObjectNode chat : chats()) {
      chat.put("model", model);
      probes.add(new Question(tokenizer, RequestKind.CHAT, chat));
    }
    return probes;
  }

  private static List<ObjectNode> chats() {
    ObjectNode plain = chat("user", "Hello there.");
    ObjectNode system = chat("system", "Be brief.", "user", "  Why?\n");
    ObjectNode long3 = chat("user", "1 + 1", "assistant", "2\n\n", "user", "and 2 + 2 = ?");
    ObjectNode parts = chat("user", "");
    ((ObjectNode) parts.path("messages").get(0))
        .putArray("content")
        .add(JSON.createObjectNode().put("type", "text").put("text", "one part"));
    ObjectNode tools = chat("user", "Weather in Oslo?");
    addTool(tools);
    ObjectNode arguments = chat("user", "Think.");
    arguments.putObject("chat_template_kwargs").put("enable_thinking", false);
    return List.of(plain, system, long3, parts, tools, arguments);
  }

  private static ObjectNode chat(String... rolesAndContents) {
    ObjectNode request = JSON.createObjectNode();
    ArrayNode messages = request.putArray("messages");
    for (int i = 0; i < rolesAndContents.length; i += 2) {
      messages.addObject().put("role", rolesAndContents[i]).put("content", rolesAndContents[i + 1]);
    }
    return request;
  }

  private static void addTool(ObjectNode request) {
    ObjectNode tool = request.putArray("tools").addObject().put("type", "function");
    ObjectNode function =
        tool.putObject("function").put("name", "weather").put("description", "Tells it.");
    ObjectNode parameters = function.putObject("parameters").put("type", "object");
    parameters.putObject("properties").putObject("city").put("type", "string");
    parameters.putArray("required").add("city");
  }
}
