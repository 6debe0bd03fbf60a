package dev.warmpath.tokenizer.chat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.tokenizer.body.FallbackCause;
import dev.warmpath.tokenizer.body.InexactPromptException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ChatRendererTest {
  private static final String ALL = "{{ messages }}|{{ tools }}|{{ documents }}";
  private static final String PARTS =
      "{{ messages }}{% for m in messages %}{% for p in m.content %}{% endfor %}{% endfor %}";

  private static String text(String template, String body) {
    return text(template, body, ChatOptions.defaults());
  }

  private static String text(String template, String body, ChatOptions options) {
    return ChatRenderer.of(Map.of("default", template), Map.of("bos_token", "<s>"), options)
        .render(parsed(body));
  }

  private static ObjectNode parsed(String body) {
    try {
      return (ObjectNode) new ObjectMapper().readTree(body);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(e);
    }
  }

  private static InexactPromptException refused(String template, String body) {
    return refused(template, body, ChatOptions.defaults());
  }

  private static InexactPromptException refused(String template, String body, ChatOptions options) {
    return catchThrowableOfType(InexactPromptException.class, () -> text(template, body, options));
  }

  private static FallbackCause reason(String template, String body) {
    return refused(template, body).fallbackCause();
  }

  @Test
  void messagesKeepWhatTheEngineKnowsInItsOrder() {
    assertThat(
            text(
                ALL,
                """
                {"messages": [
                  {"name": "bob", "zzz": 1, "content": "hi", "role": "user"},
                  {"role": "assistant", "content": null, "reasoning_content": "r", "tool_calls": [
                    {"type": "function", "x": 1, "id": "1",
                     "function": {"name": "f", "y": 2, "arguments": "{\\"a\\": 1.0}"}}]},
                  {"role": "tool", "content": "42", "tool_call_id": "1"}]}
                """))
        .isEqualTo(
            "[{'role': 'user', 'content': 'hi', 'name': 'bob'}, {'role': 'assistant', 'content':"
                + " '', 'tool_calls': [{'id': '1', 'function': {'arguments': {'a': 1.0}, 'name':"
                + " 'f', 'y': 2}, 'type': 'function', 'x': 1}], 'reasoning': 'r',"
                + " 'reasoning_content': 'r'}, {'role': 'tool', 'content': '42', 'tool_call_id':"
                + " '1'}]|None|None");
  }

  @Test
  void toolsAreWrittenAnew() {
    assertThat(
            text(
                "{{ tools }}",
                """
                {"messages": [{"role": "user", "content": ""}], "tools": [
                  {"type": "function", "zz": 1, "function":
                    {"q": 1, "strict": null, "parameters": {"z": 1, "a": 2.0}, "name": "f"}},
                  {"function": {"name": "g", "description": "d", "strict": true}}]}
                """))
        .isEqualTo(
            "[{'type': 'function', 'function': {'name': 'f', 'description': None, 'parameters':"
                + " {'z': 1, 'a': 2.0}}}, {'type': 'function', 'function': {'name': 'g',"
                + " 'description': 'd', 'parameters': None, 'strict': True}}]");
  }

  @Test
  void contentIsTextOrPartsAsTheTemplateWantsIt() {
    String body =
        """
        {"messages": [{"role": "user", "content": [
          {"type": "text", "text": "", "cache_control": {"a": null}}, "b",
          {"text": "c", "type": "input_text"}, {"type": "refusal", "refusal": "d"}]}]}
        """;

    assertThat(text("{{ messages[0].content }}", body)).isEqualTo("b\nc\nd");
    assertThat(text(PARTS, body))
        .isEqualTo(
            "[{'role': 'user', 'content': [{'type': 'text', 'text': '', 'cache_control': {'a':"
                + " None}}, {'type': 'text', 'text': 'b'}, {'type': 'text', 'text': 'c'}, {'type':"
                + " 'text', 'text': 'd'}]}]");
    assertThat(text(PARTS, "{\"messages\": [{\"role\": \"user\"}]}"))
        .isEqualTo("[{'role': 'user', 'content': []}]");
    assertThat(text(ALL, "{\"messages\": [{\"role\": \"user\", \"content\": \"x\"}]}"))
        .startsWith("[{'role': 'user', 'content': 'x'}]");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '@',
      value = {
        "{% set ns = namespace(n=1, x=messages) %}{% for m in ns.x %}LOOP{% endfor %} @ true",
        "{% set ns = namespace() %}{% set ns.x = messages[1:] %}{% for m in ns.x %}LOOP{% endfor %}"
            + " @ true",
        "{% set ns.x = messages %}{% set l = ns.x %}{% for m in l %}LOOP{% endfor %} @ true",
        "{% set a = namespace(x=messages) %}{% set b.y = a.x %}{% for m in b.y %}LOOP{% endfor %}"
            + " @ true",
        "{% set ns.x = messages %}{% for m in messages %}LOOP{% endfor %} @ true",
        "{% set ns.x = messages %}{% for m in ns.y %}LOOP{% endfor %} @ false",
        "{% set ns.x = messages %}{% for m in x %}LOOP{% endfor %} @ false",
        "{% set ns = namespace(n=messages|length - 1) %}{% for m in ns.n %}LOOP{% endfor %}"
            + " @ false",
        "{% set ns = dict(x=messages) %}{% for m in ns.x %}LOOP{% endfor %} @ false",
        "{% set a, b = messages %}{% for m in messages %}LOOP{% endfor %} @ false",
      })
  void messagesAreFollowedThroughNamespaces(String template, boolean parts) {
    String loops = template.replace("LOOP", "{% for p in m.content %}{% endfor %}");
    String body =
        "{\"messages\": [{\"role\": \"user\", \"content\": [{\"type\": \"text\", \"text\":"
            + " \"x\"}]}]}";
    String shown = text("{% if false %}" + loops + "{% endif %}{{ messages[0].content }}", body);
    assertThat(shown).isEqualTo(parts ? "[{'type': 'text', 'text': 'x'}]" : "x");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'reasoning_effort': 'medium' | low,True",
        "'reasoning_effort': 'high' | none,False",
        "'reasoning_effort': 'low' | low,True",
        "'reasoning_effort': 'max' | turbo,True",
        "'reasoning_effort': 'medium', 'chat_template_kwargs': {'enable_thinking': 0} | low,0",
        "'chat_template_kwargs': {'reasoning_effort': 'medium'} | medium,",
        "'reasoning_effort': null | ,",
      })
  void theEngineRewritesTheEffortFirst(String fields, String expected) {
    ChatOptions.Templates templates =
        ChatOptions.Templates.defaults()
            .withEfforts(Map.of("medium", "low", "high", "none", "max", "turbo"));
    String body =
        "{'messages': [{'role': 'user', 'content': 'x'}], %s}".formatted(fields).replace('\'', '"');
    ChatOptions options = ChatOptions.defaults().with(templates);
    assertThat(text("{{ reasoning_effort }},{{ enable_thinking }}", body, options))
        .isEqualTo(expected);
  }

  @Test
  void toolAnswersAreJoinedEvenInParts() {
    String body =
        """
        {"messages": [{"role": "tool", "tool_call_id": "1", "content": [
          {"type": "text", "text": "a"}, {"type": "text", "text": ""}]}]}
        """;

    assertThat(text(PARTS, body))
        .isEqualTo("[{'role': 'tool', 'content': 'a\\n', 'tool_call_id': '1'}]");
  }

  @Test
  void billingHeadersGoFromSystemMessages() {
    String body =
        """
        {"messages": [{"role": "system", "content": [
          {"type": "text", "text": "x-anthropic-billing-header: cch=1"},
          {"type": "text", "text": "x-anthropic-billing-header: cch=2\\nBe brief."}]},
         {"role": "user", "content": "x-anthropic-billing-header"}]}
        """;

    assertThat(text("{% for m in messages %}{{ m.content }};{% endfor %}", body))
        .isEqualTo("Be brief.;x-anthropic-billing-header;");
  }

  @Test
  void developersBecomeOneSystemMessageUnlessTheTemplateKnowsThem() {
    String body =
        """
        {"messages": [{"role": "developer", "content": "dev"}, {"role": "user", "content": "hi"},
          {"role": "system", "content": ""}, {"role": "system", "content": "sys"}]}
        """;

    assertThat(text("{{ messages }}", body))
        .isEqualTo(
            "[{'role': 'system', 'content': 'dev\\n\\nsys'}, {'role': 'user', 'content': 'hi'}]");
    assertThat(text("{{ messages[0] }}{# 'developer' #}", body))
        .isEqualTo("{'role': 'developer', 'content': 'dev', 'tools': None}");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'' | {}",
        "'{\"a\": 12345678901234567890, \"b\": 1e2}' | {'a': 12345678901234567890, 'b': 100.0}",
        "'[1]' | {}",
        "'{\"a\": 1} x' | {}",
        "'{' | {}",
        "'null' | {}",
      })
  void argumentsAreParsed(String arguments, String expected) {
    ObjectNode body =
        parsed(
            """
            {"messages": [{"role": "assistant", "tool_calls": [
              {"id": "1", "type": "function", "function": {"name": "f"}}]}]}
            """);
    ((ObjectNode) body.at("/messages/0/tool_calls/0/function")).put("arguments", arguments);

    assertThat(text("{{ messages[0].tool_calls[0].function.arguments }}", body.toString()))
        .isEqualTo(expected);
  }

  @Test
  void argumentsOfTheTemplateAreMergedAndFiltered() {
    String template =
        "{{ enable_thinking }},{{ reasoning_effort }},{{ bos_token }},{{ add_generation_prompt }}";
    String messages = "{\"messages\": [{\"role\": \"user\", \"content\": \"\"}]";

    assertThat(text(template, messages + "}")).isEqualTo(",,<s>,True");
    assertThat(text(template, messages + ", \"reasoning_effort\": \"high\"}"))
        .isEqualTo("True,high,<s>,True");
    assertThat(text(template, messages + ", \"reasoning_effort\": \"none\"}"))
        .isEqualTo("False,none,<s>,True");
    String kwargs =
        ", \"reasoning_effort\": \"low\", \"add_generation_prompt\": false,"
            + " \"chat_template_kwargs\": {\"enable_thinking\": false, \"bos_token\": \"<b>\","
            + " \"reasoning_effort\": \"x\", \"add_generation_prompt\": true, \"other\": 1}}";
    assertThat(text(template, messages + kwargs)).isEqualTo("False,low,<b>,False");
  }

  @Test
  void templatesOfRequestsAreUsedWhereTheyAreTrusted() {
    String body =
        """
        {"messages": [{"role": "user", "content": "x"}], "tools": [{"function": {"name": "f"}}],
         "chat_template": "own {{ messages[0].content }}"%s}
        """;
    ChatOptions.Templates trusting =
        new ChatOptions.Templates(
            null, parsed("{}"), ChatOptions.ContentFormat.AUTO, false, true, Map.of());
    ChatOptions options = ChatOptions.defaults().with(trusting);
    assertThat(text("model's", body.formatted(""), options)).isEqualTo("own x");
    for (String more : List.of(", \"chat_template\": 1", ", \"chat_template\": \"{% if %}\"")) {
      assertThat(refused("model's", body.formatted(more), options)).isNotNull();
    }
    assertThat(reason("model's", body.formatted(""))).isEqualTo(FallbackCause.REQUEST_TEMPLATE);
  }

  @Test
  void defaultsOfTheEngineStandBehindTheRequest() {
    ObjectNode defaults = parsed("{\"a\": 1, \"b\": 2, \"c\": 3}");
    ChatOptions options =
        ChatOptions.defaults()
            .with(
                new ChatOptions.Templates(
                    null, defaults, ChatOptions.ContentFormat.STRING, true, false, Map.of()));
    String body =
        """
        {"messages": [{"role": "user", "content": "x"}], "tool_choice": "none",
         "tools": [{"function": {"name": "f"}}],
         "chat_template_kwargs": {"a": 5, "b": null, "c": "auto"}}
        """;

    assertThat(text("{{ a }},{{ b }},{{ c }},{{ tools }}", body, options)).isEqualTo("5,2,3,None");
  }

  @Test
  void finalMessagesAreLeftOpen() {
    String template =
        "{% for m in messages %}<{{ m.role }}>{{ m.content | trim }}</>{% endfor %}"
            + "{% if add_generation_prompt %}<assistant>{% endif %}";
    String start =
        "{\"messages\": [{\"role\": \"user\", \"content\": \"q\"},"
            + " {\"role\": \"assistant\", \"content\": \"Sure, \"}],"
            + " \"continue_final_message\": true";

    assertThat(text(template, start + ", \"add_generation_prompt\": false}"))
        .isEqualTo("<user>q</><assistant>Sure,");
    assertThat(text(template.replace(" | trim", ""), start + ", \"add_generation_prompt\": false}"))
        .isEqualTo("<user>q</><assistant>Sure, ");
    assertThat(reason(template, start + "}")).isEqualTo(FallbackCause.INVALID_REQUEST);
  }

  @Test
  void templatesAreChosenByWhatTheRequestHas() {
    Map<String, String> sources = Map.of("default", "d", "tool_use", "t", "processor", "p");
    ChatRenderer renderer = ChatRenderer.of(sources, Map.of(), ChatOptions.defaults());
    ObjectNode plain = parsed("{\"messages\": [{\"role\": \"user\", \"content\": \"x\"}]}");
    ObjectNode withTools = plain.deepCopy();
    withTools.putArray("tools").addObject().putObject("function").put("name", "f");

    assertThat(renderer.render(plain)).isEqualTo("p");
    assertThat(renderer.render(withTools)).isEqualTo("t");
    ChatRenderer none = ChatRenderer.of(Map.of(), Map.of(), ChatOptions.defaults());
    assertThat(
            catchThrowableOfType(InexactPromptException.class, () -> none.render(plain))
                .fallbackCause())
        .isEqualTo(FallbackCause.NO_TEMPLATE);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{\"messages\": []} | INVALID_REQUEST",
        "{\"messages\": [{\"content\": \"x\"}]} | INVALID_REQUEST",
        "{\"messages\": [{\"role\": \"user\", \"content\": 5}]} | INVALID_REQUEST",
        "{\"messages\": [{\"role\": \"user\", \"content\": [{\"type\": \"image_url\"}]}]} |"
            + " MULTIMODAL",
        "{\"messages\": [{\"role\": \"user\", \"content\": [{\"image_url\": \"x\"}]}]} |"
            + " MULTIMODAL",
        "{\"messages\": [{\"role\": \"user\", \"content\": [{\"type\": \"prompt_embeds\"}]}]} |"
            + " PROMPT_EMBEDS",
        "{\"messages\": [{\"role\": \"user\", \"content\": \"\"}], \"tools\": []} |"
            + " INVALID_REQUEST",
        "{\"messages\": [{\"role\": \"user\", \"content\": \"\"}], \"chat_template\": \"x\"} |"
            + " REQUEST_TEMPLATE",
        "{\"messages\": [{\"role\": \"user\", \"content\": \"\"}], \"chat_template_kwargs\":"
            + " {\"messages\": []}} | REQUEST_TEMPLATE",
        "{\"messages\": [{\"role\": \"user\", \"content\": \"\"}], \"reasoning_effort\": \"auto\"}"
            + " | INVALID_REQUEST",
        "{\"messages\": [{\"role\": \"bad\", \"content\": \"\"}]} | TEMPLATE_ERROR",
      })
  void refusesWhatItCannotKnow(String body, FallbackCause expected) {
    String template =
        "{% for m in messages %}{% if m.role == 'bad' %}{{ raise_exception(m.content) }}{% endif %}"
            + "{% endfor %}";

    assertThat(reason(template, body)).isEqualTo(expected);
  }

  @Test
  void refusalsHoldNothingOfTheChat() {
    InexactPromptException refused =
        refused(
            "\n{{ raise_exception(messages[0].content) }}",
            "{\"messages\": [{\"role\": \"user\", \"content\": \"secret\"}]}");

    assertThat(refused.fallbackCause()).isEqualTo(FallbackCause.TEMPLATE_ERROR);
    assertThat(refused.detail()).isEqualTo("the template, line 2: RAISED");
  }

  @Test
  void refusalsNameTheConstructAndItsLine() {
    InexactPromptException refused =
        refused(
            "\n{{ messages|groupby('role') }}",
            "{\"messages\": [{\"role\": \"user\", \"content\": \"secret\"}]}");

    assertThat(refused.fallbackCause()).isEqualTo(FallbackCause.TEMPLATE_UNSUPPORTED);
    assertThat(refused.detail()).isEqualTo("the template, UNSUPPORTED at line 2: filter groupby");
  }
}
