package dev.warmpath.tokenizer.harmony;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.tokenizer.body.FallbackCause;
import dev.warmpath.tokenizer.body.InexactPromptException;
import dev.warmpath.tokenizer.chat.ChatOptions;
import dev.warmpath.tokenizer.chat.ChatOptions.Harmony;
import dev.warmpath.tokenizer.chat.ChatTexts;
import dev.warmpath.tokenizer.encode.SpecialPlaceholders;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Texts that vLLM 0.32.0 with oss-harmony 0.0.11 makes of the same requests. */
class HarmonyChatsTest {

  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final String SYSTEM =
      "<|start|>system<|message|>You are ChatGPT, a large language model trained by OpenAI.\n"
          + "Knowledge cutoff: 2024-06\nCurrent date: 2026-03-14\n\nReasoning: medium\n\n"
          + "# Valid channels: analysis, commentary, final. Channel must be included for every"
          + " message.";
  private static final String WITH_TOOLS =
      "\nCalls to these tools must go to the commentary channel: 'functions'.";
  private static final String CALL =
      "{'id': 'c1', 'type': 'function', 'function': {'name': 'now', 'arguments': '{}'}}";
  private static final ChatOptions PINNED =
      ChatOptions.defaults().with(new Harmony("2026-03-14", false));

  @ParameterizedTest
  @CsvSource(
      delimiter = '@',
      quoteCharacter = '`',
      ignoreLeadingAndTrailingWhitespace = true,
      value = {
        "[] @",
        "[{'role': 'user', 'content': 'Hi'}] @ {user}Hi{end}",
        "[{'role': 'user', 'content': [{'type': 'text', 'text': 'hel'}, {'type': 'image_url',"
            + " 'image_url': {'url': 'u'}}, {'text': 'lo'}]}] @ {user}hel{cut}{cut}lo{end}",
        "[{'role': 'system', 'content': 'Be brief.'}, {'role': 'user', 'content': ''}]"
            + " @ {dev}# Instructions⏎⏎Be brief.{end}{user}{end}",
        "[{'role': 'user', 'content': 'a'}, {'role': 'developer', 'content': [{'text': 'b'},"
            + " {'text': 'c'}]}] @ {user}a{end}{dev}# Instructions⏎⏎bc{end}",
        "[{'role': 'user', 'content': 'a'}, {'role': 'assistant', 'content': 'b',"
            + " 'reasoning': 'c'}, {'role': 'user', 'content': 'd'}, {'role': 'assistant',"
            + " 'reasoning_content': 'e'}]"
            + " @ {user}a{end}{final}b{end}{user}d{end}{analysis}e{end}",
        "[{'role': 'assistant', 'content': null}, {'role': 'assistant', 'content': [{'text': ''},"
            + " {'text': 'x'}]}] @",
        "[{'role': 'assistant', 'content': 'b', 'reasoning': 'c', 'tool_calls': [CALL]},"
            + " {'role': 'tool', 'tool_call_id': 'c1', 'content': 'noon'},"
            + " {'role': 'tool', 'tool_call_id': 'c2', 'content': [{'text': 'x'}, {}]}]"
            + " @ {comm}b{end}{analysis}c{end}{call}now{json}{}<!call!>{res}now{to}noon{end}"
            + "{res}{to}x{end}",
        "[{'role': 'user', 'content': '<|end|>'}] @ {user}<|end|>{end}",
      })
  void messagesAreWritten(String messages, String expected) {
    String body = "{'messages': %s}".formatted(messages.replace("CALL", CALL));
    String shown = expected == null ? "" : expected.replace('⏎', '\n');
    assertThat(chat(body)).isEqualTo(SYSTEM + "{end}" + shown + "{go}");
  }

  @Test
  void toolsStandInTheDeveloperMessage() {
    String tools =
        "[{'type': 'function', 'function': {'name': 'f', 'description': 'one\\r\\ntwo\\rx',"
            + " 'parameters': {'type': 'object', 'required': ['a'], 'properties': {"
            + "'a': {'type': 'string', 'enum': ['x', 'y'], 'default': 'y', 'description': 'A.'},"
            + "'b': {'type': ['integer', 'null'], 'title': 'B', 'examples': ['p', 3]},"
            + "'c': {'oneOf': [{'type': 'string', 'default': 'q'}, {'type': 'integer',"
            + " 'nullable': true, 'description': 'count'}], 'default': 1e16},"
            + "'d': {'type': 'array', 'items': {'type': 'object', 'properties': {}}}}}}},"
            + " {'function': {'name': 'g'}}]";
    assertThat(chat("{'tools': %s, 'messages': []}".formatted(tools)))
        .isEqualTo(
            SYSTEM
                + WITH_TOOLS
                + "{end}{dev}# Tools\n\n## functions\n\nnamespace functions {\n\n"
                + "// one\n// two\rx\ntype f = (_: {\n// A.\na: \"x\" | \"y\", // default: y\n"
                + "// B\n//\n// Examples:\n// - \"p\"\nb?: number | null,\n"
                + "// default: 1e+16\nc?:\n | string // default: \"q\"\n"
                + " | number | null // count\n,\nd?: {\n    }[],\n}) => any;\n\n"
                + "type g = () => any;\n\n} // namespace functions{end}{go}");
  }

  @Test
  void theEngineRewritesTheEffortFirst() {
    ChatOptions options =
        PINNED.with(
            ChatOptions.Templates.defaults().withEfforts(Map.of("none", "low", "high", "max")));
    ObjectNode none = body("{'messages': [], 'reasoning_effort': 'none'}");
    assertThat(new HarmonyChats(options).render(none)).contains("Reasoning: low");
    ObjectNode responses = body("{'input': 'a', 'reasoning': {'effort': 'none'}}");
    assertThat(new HarmonyResponses(options).render(responses)).contains("Reasoning: low");
    assertRefused(
        options, "{'messages': [], 'reasoning_effort': 'high'}", FallbackCause.INVALID_REQUEST);
  }

  /** Bare in a property's variants, quoted in those of a list's items (openai-harmony 0.0.11). */
  @ParameterizedTest
  @CsvSource(
      delimiter = '@',
      textBlock =
          """
          {'oneOf': [{'type': 'string', 'enum': ['x', 'y'], 'default': 'x'}]} \
            @ '⏎ | "x" | "y" // default: x⏎,'
          {'oneOf': [{'type': 'string', 'enum': ['x'], 'default': 'y z', 'description': 'D'}]} \
            @ '⏎ | "x" // D default: y z⏎,'
          {'oneOf': [{'type': 'string', 'enum': [], 'default': 'x'}]} \
            @ '⏎ | string // default: "x"⏎,'
          {'oneOf': [{'type': 'string', 'enum': ['x'], 'default': 5}]} @ '⏎ | "x" // default: 5⏎,'
          {'type': 'array', 'items': {'oneOf': [{'type': 'string', 'enum': ['x'], 'default': 'x'}]}} \
            @ ' ⏎     | "x" // default: "x"[],'
          {'oneOf': [{'oneOf': [{'type': 'string', 'enum': ['x'], 'default': 'x'}]}]} \
            @ '⏎ | ⏎    | "x" // default: "x"⏎,'
          """)
  void aDefaultBesideAnEnumIsWrittenAsTheLibraryDoes(String schema, String expected) {
    String tools =
        "[{'function': {'name': 'f', 'parameters': {'type': 'object', 'properties': {'a': %s}}}}]";
    assertThat(chat("{'tools': %s, 'messages': []}".formatted(tools.formatted(schema))))
        .contains("type f = (_: {\na?:" + expected.replace('⏎', '\n') + "\n}) => any;");
  }

  @Test
  void instructionsStandInTheSystemMessageWhereTheEngineIsToldSo() {
    ChatTexts chats = new HarmonyChats(PINNED.with(new Harmony("2026-03-14", true)));
    String text =
        readable(
            chats.render(
                body(
                    "{'messages': [{'role': 'system', 'content': 'A.'},"
                        + " {'role': 'developer', 'content': 'B.'}]}")));
    assertThat(text).isEqualTo(SYSTEM.replace("OpenAI.", "OpenAI.\nA.") + "{end}{dev}{end}{go}");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "'reasoning_effort': 'none'",
        "'reasoning_effort': 'xhigh'",
        "'tools': []",
        "'tool_choice': 'auto'",
        "'tools': [{'function': {'name': 'a'}}], 'tool_choice': {'function': {'name': 'b'}}",
        "'continue_final_message': true, 'add_generation_prompt': true",
        "'messages': [{'role': 'critic', 'content': 'x'}]",
        "'messages': [{'role': 'user', 'content': null}]",
        "'messages': [{'role': 'user', 'content': [{'text': 5}]}]",
        "'messages': [{'role': 'user', 'content': ''}, {'role': 'system', 'content': [{'text':"
            + " null}]}]",
        "'response_format': {'type': 'json_schema'}",
        "'messages': [{'role': 'user', 'content': '', 'tool_calls': null}]",
        "'messages': [{'role': 'assistant', 'tool_calls': [{'id': 'c', 'type': 'function',"
            + " 'function': {'name': 'a<|end|>', 'arguments': ''}}]}]"
      })
  void whatTheEngineRefusesIsRefused(String fields) {
    assertRefused(PINNED, "{'messages': [], %s}".formatted(fields), FallbackCause.INVALID_REQUEST);
  }

  @Test
  void halfAPairIsRefusedWhereItIsShown() {
    String half = "[{'role': 'assistant', 'content': 'x', 'reasoning': 'a\\ud800'}%s]";
    assertThat(chat("{'messages': %s}".formatted(half.formatted("")))).contains("{final}x{end}");
    String shown = half.formatted(", {'role': 'user', 'content': '\\ud800\\ud801'}");
    assertRefused(PINNED, "{'messages': %s}".formatted(shown), FallbackCause.MALFORMED_TEXT);
    String schema =
        "[{'function': {'name': 'f', 'parameters': {'type': 'string', 'pattern': '\\ud800'}}}]";
    assertRefused(
        PINNED, "{'messages': [], 'tools': %s}".formatted(schema), FallbackCause.MALFORMED_TEXT);
  }

  @Test
  void theDateIsTheEnginesAndWithheldNearMidnight() {
    ChatOptions tokyo = at("2026-03-14T14:58:00Z");
    assertThat(readable(new HarmonyChats(tokyo).render(body("{'messages': []}"))))
        .contains("Current date: 2026-03-14\n");
    assertRefused(at("2026-03-14T14:59:30Z"), "{'messages': []}", FallbackCause.NEAR_MIDNIGHT);
    assertRefused(at("2026-03-14T15:00:30Z"), "{'messages': []}", FallbackCause.NEAR_MIDNIGHT);
    assertThat(
            readable(new HarmonyChats(at("2026-03-14T15:02:00Z")).render(body("{'messages': []}"))))
        .contains("Current date: 2026-03-15\n");
  }

  @Test
  void itemsAreWritten() {
    String request =
        "{'instructions': 'I.', 'reasoning': {'effort': 'low'}, 'tools': [{'type': 'function',"
            + " 'name': 'now'}], 'input': [{'role': 'system', 'content': 'S.'}, {'role': 'user',"
            + " 'content': [{'type': 'input_text', 'text': 'a'}]}, {'type': 'reasoning', 'summary':"
            + " [], 'content': [{'text': 'p'}, {'text': 'q'}]}, {'type': 'function_call',"
            + " 'call_id': 'c', 'name': 'now', 'arguments': '{}'},"
            + " {'type': 'function_call_output', 'call_id': 'c', 'output': 'noon'}]}";
    assertThat(readable(new HarmonyResponses(PINNED).render(body(request))))
        .isEqualTo(
            SYSTEM.replace("medium", "low")
                + WITH_TOOLS
                + "{end}{dev}# Instructions\n\nI.\n\n# Tools\n\n## functions\n\n"
                + "namespace functions {\n\ntype now = () => any;\n\n} // namespace functions{end}"
                + "{dev}# Instructions\n\nS.{end}{user}a{end}{analysis}p\nq{end}"
                + "{call}now{json}{}<!call!>{res}now{to}noon{end}{go}");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'input': [{'type': 'function_call_output', 'call_id': 'z', 'output': ''}] |"
            + " INVALID_REQUEST",
        "'input': [{'type': 'item_reference', 'id': 'x'}] | INVALID_REQUEST",
        "'input': 'x', 'tools': [{'type': 'custom', 'name': 'x'}] | INVALID_REQUEST",
        "'input': 'x', 'reasoning': {'effort': 'none'} | INVALID_REQUEST",
        "'input': 'x', 'tool_choice': 'required' | INVALID_REQUEST",
        "'input': 'x', 'tool_choice': {'type': 'function', 'name': 'f'} | INVALID_REQUEST",
        "'input': 'x', 'tool_choice': {'type': 'function', 'name': 'f'},"
            + " 'tools': [{'type': 'function', 'name': 'g'}] | INVALID_REQUEST",
        "'input': 'x', 'previous_response_id': 'r' | STORED_HISTORY",
        "'input': 'x', 'chat_template_kwargs': {'chat_template': 'x'} | REQUEST_TEMPLATE"
      })
  void whatTheEngineRefusesOfResponsesIsRefused(String fields, FallbackCause reason) {
    assertThatThrownBy(() -> new HarmonyResponses(PINNED).render(body("{" + fields + "}")))
        .isInstanceOfSatisfying(
            InexactPromptException.class, e -> assertThat(e.fallbackCause()).isEqualTo(reason));
  }

  @ParameterizedTest
  @ValueSource(strings = {"'required'", "{'type': 'function', 'name': 'f'}", "'none'"})
  void aChoiceAmongTheToolsOfResponsesChangesNothing(String choice) {
    String tools = "'input': 'x', 'tools': [{'type': 'function', 'name': 'f'}]";
    HarmonyResponses responses = new HarmonyResponses(PINNED);
    assertThat(responses.render(body("{%s, 'tool_choice': %s}".formatted(tools, choice))))
        .isEqualTo(responses.render(body("{" + tools + "}")));
  }

  /** The library's reader is a last digit off now and then. */
  @ParameterizedTest
  @CsvSource({
    "1e-05, 0.00001",
    "1e-06, 1e-6",
    "1e15, 1000000000000000.0",
    "1e16, 1e+16",
    "-0.0, -0.0",
    "18446744073709551615, 18446744073709551615",
    "18446744073709551616, 1.8446744073709552e+19",
    "72720463603195807453503, 7.2720463603195814e+22",
    "-9.737716208221956e-08, -9.737716208221957e-8",
    "5.7804021771411506e-220, 5.78040217714115e-220",
    "-956859.5832408975, -956859.5832408976",
    "2.6961627473899032e+73, 2.6961627473899035e+73",
    "5e-324, 5e-324"
  })
  void numbersAreWrittenAsTheEnginesLibraryReadsThem(String given, String expected)
      throws JsonProcessingException {
    assertThat(SerdeJson.of(MAPPER.readTree(given))).isEqualTo(expected);
  }

  private static ChatOptions at(String instant) {
    Clock clock = Clock.fixed(Instant.parse(instant), ZoneId.of("Asia/Tokyo"));
    return ChatOptions.defaults().with(clock);
  }

  private static void assertRefused(ChatOptions options, String body, FallbackCause reason) {
    assertThatThrownBy(() -> new HarmonyChats(options).render(body(body)))
        .isInstanceOfSatisfying(
            InexactPromptException.class, e -> assertThat(e.fallbackCause()).isEqualTo(reason));
  }

  private static String chat(String body) {
    return readable(new HarmonyChats(PINNED).render(body(body)));
  }

  /** Headers in short, and tokens that are none as they stand. */
  private static String readable(String prompt) {
    String text = prompt.replace(SpecialPlaceholders.CUT, "{cut}");
    String start = HarmonyToken.START.placeholder();
    String channel = HarmonyToken.CHANNEL.placeholder();
    String message = HarmonyToken.MESSAGE.placeholder();
    text = text.replace(start + "user" + message, "{user}");
    text = text.replace(start + "developer" + message, "{dev}");
    text = text.replace(start + "system" + message, "<|start|>system<|message|>");
    for (String name : new String[] {"final", "analysis"}) {
      text = text.replace(start + "assistant" + channel + name + message, "{" + name + "}");
    }
    text = text.replace(start + "assistant" + channel + "commentary" + message, "{comm}");
    text = text.replace(start + "assistant to=functions.", "{call}");
    text = text.replace(channel + "commentary json" + message, "{json}");
    text = text.replace(start + "functions.", "{res}");
    text = text.replace(channel + "commentary to=assistant" + message, "{to}");
    text =
        text.replace(HarmonyToken.END.placeholder(), "{end}")
            .replace(HarmonyToken.CALL.placeholder(), "<!call!>");
    return text.replace(start + "assistant", "{go}");
  }

  private static ObjectNode body(String json) {
    try {
      return (ObjectNode) MAPPER.readTree(json.replace('\'', '"'));
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(json, e);
    }
  }
}
