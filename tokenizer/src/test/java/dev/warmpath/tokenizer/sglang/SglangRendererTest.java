package dev.warmpath.tokenizer.sglang;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.tokenizer.body.FallbackCause;
import dev.warmpath.tokenizer.body.InexactPromptException;
import dev.warmpath.tokenizer.chat.ChatOptions;
import dev.warmpath.tokenizer.chat.ChatOptions.ContentFormat;
import dev.warmpath.tokenizer.image.ImageParts;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What SGLang hands to templates, seen through templates that print it. */
class SglangRendererTest {

  private static final String DUMP = "{{ messages | tojson }}";
  private static final String TOOLS = "{{ tools | tojson }}";
  private static final String HI = "{'role': 'user', 'content': 'Hi'}";

  @Test
  void functionsKeepTheClientsOrderAndGetWhatIsMissing() {
    assertThat(tools("{'function': {'parameters': {}, 'x': 1, 'strict': null, 'name': 'f'}}"))
        .isEqualTo(
            "[{\"type\": \"function\", \"function\": {\"parameters\": {}, \"name\": \"f\","
                + " \"description\": null}, \"defer_loading\": null}]");
    assertThat(
            tools(
                "{'defer_loading': true, 'function': {'strict': false, 'name': 'f'}, 'type':'t'}"))
        .isEqualTo(
            "[{\"type\": \"t\", \"function\": {\"strict\": false, \"name\": \"f\","
                + " \"description\": null, \"parameters\": null, \"defer_loading\": true},"
                + " \"defer_loading\": true}]");
  }

  @Test
  void theChoiceOfToolsDecidesWhichAreShown() {
    String two = "'tools': [{'function': {'name': 'f'}}, {'function': {'name': 'g'}}]";
    String template = "{% for t in tools or [] %}{{ t.function.name }}{% endfor %}";
    String body = "{'messages': [" + HI + "], " + two;
    assertThat(text(template, body + "}")).isEqualTo("fg");
    assertThat(text(template, body + ", 'tool_choice': 'required'}")).isEqualTo("fg");
    assertThat(text(template, body + ", 'tool_choice': 'none'}")).isEmpty();
    assertThat(
            text(
                template,
                body + ", 'tool_choice': {'type': 'function', 'function': {'name': 'g'}}}"))
        .isEqualTo("g");
    assertThat(text(template, "{'messages': [" + HI + "], 'tools': []}")).isEmpty();
  }

  @Test
  void aTemplateThatFailsIsTriedAgainWithBareFunctions() {
    String template = "{{ tools[0].name if tools[0].name else raise_exception('no') }}";
    assertThat(text(template, body(HI, "'tools': [{'function': {'name': 'f'}}]"))).isEqualTo("f");
    assertThat(refused("{{ raise_exception('no') }}", body(HI, "'x': 1")).fallbackCause())
        .isEqualTo(FallbackCause.TEMPLATE_ERROR);
  }

  @Test
  void messagesHaveTheDeclaredFieldsInTheDeclaredOrder() {
    String assistant =
        "{'tool_calls': [{'function': {'name': 'f', 'arguments': '{\\\"b\\\": 1.0, \\\"a\\\":"
            + " 2}'}}], 'reasoning_content': 'r', 'name': 'n', 'role': 'ASSISTANT', 'other': 1}";
    String tool =
        "{'role': 'tool', 'content': [{'type': 'text', 'text': 'a'},"
            + " {'type': 'text', 'text': 'b'}], 'tool_call_id': 'c'}";
    String user = "{'role': 'user', 'name': 'bob', 'content': 'x'}";
    assertThat(text(DUMP, body(assistant + "," + tool + "," + user, "'n': 1")))
        .isEqualTo(
            "[{\"role\": \"assistant\", \"content\": \"\", \"name\": \"n\","
                + " \"reasoning_content\": \"r\", \"tool_calls\": [{\"id\": null, \"index\": null,"
                + " \"type\": \"function\", \"function\": {\"name\": \"f\", \"arguments\":"
                + " {\"b\": 1.0, \"a\": 2}}}]},"
                + " {\"role\": \"tool\", \"content\": \"a b\", \"tool_call_id\": \"c\"},"
                + " {\"role\": \"user\", \"content\": \"x\"}]");
  }

  @Test
  void partsAreJoinedUnlessTheTemplateTakesThemApart() {
    String parts =
        "{'role': 'system', 'name': 'n', 'content': [{'type': 'text', 'text': 'a'},"
            + " {'type': 'text', 'text': 'b', 'cache_control': {}}]},"
            + HI;
    assertThat(text(DUMP, body(parts, "'n': 1"))).contains("\"content\": \"a b\", \"name\"");
    String apart =
        "\"name\": \"n\", \"content\": [{\"type\": \"text\", \"text\": \"a\"},"
            + " {\"type\": \"text\", \"text\": \"b\"}]";
    for (String loop :
        new String[] {
          "{% for c in m.content %}{% endfor %}",
          "{% for c in msg['content'] | list %}{% endfor %}",
          "{% for c in message.content[1:] %}{% endfor %}",
          "{# images #}"
        }) {
      String template = "{% if false %}" + loop + "{% endif %}" + DUMP;
      assertThat(text(template, body(parts, "'n': 1"))).as(loop).contains(apart);
    }
    assertThat(
            text(
                "{% for c in [] %}{% for x in c.content %}{% endfor %}{% endfor %}" + DUMP,
                body(parts, "'n': 1")))
        .contains("\"a b\"");
    assertThat(text(DUMP, body(parts, "'n': 1"), options(ContentFormat.OPENAI, "{}")))
        .contains(apart);
  }

  @Test
  void theLastMessageIsNeverTheAssistants() {
    String chat = HI + ", {'role': 'assistant', 'content': 'So', 'name': 'n'}";
    assertThat(text(DUMP, body(chat, "'n': 1")))
        .endsWith(", {\"role\": \"user\", \"content\": \"So\"}]");
    assertThat(refused(DUMP, body(chat, "'continue_final_message': true")).fallbackCause())
        .isEqualTo(FallbackCause.TEMPLATE_UNSUPPORTED);
    String empty = HI + ", {'role': 'assistant'}";
    assertThat(text(DUMP, body(empty, "'continue_final_message': true")))
        .isEqualTo("[{\"role\": \"user\", \"content\": \"Hi\"}]");
  }

  @Test
  void anEffortSwitchesThinkingAndArgumentsStandOverIt() {
    String template = "{{ reasoning_effort }},{{ thinking }},{{ enable_thinking }},{{ a }}";
    assertThat(text(template, body(HI, "'reasoning_effort': 'none'")))
        .isEqualTo("none,False,False,");
    assertThat(
            text(
                template,
                body(
                    HI,
                    "'reasoning_effort': 'ultra', 'chat_template_kwargs':"
                        + " {'thinking': null, 'reasoning_effort': 'x', 'a': 'auto'}")))
        .isEqualTo("x,None,True,auto");
    assertThat(
            text(
                template,
                body(HI, "'chat_template_kwargs': {'a': null}"),
                options(ContentFormat.AUTO, "{\"a\": 1, \"thinking\": 2}")))
        .isEqualTo(",2,,None");
    assertThat(text("{{ add_generation_prompt }}", body(HI, "'add_generation_prompt': false")))
        .isEqualTo("True");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'messages': []}",
        "{'messages': [{'role': 'User', 'content': 'x'}]}",
        "{'messages': [{'role': 'critic', 'content': 'x'}]}",
        "{'messages': [{'role': 'user'}]}",
        "{'messages': [{'role': 'system', 'content': 1}]}",
        "{'messages': [{'role': 'system', 'content': [{'type': 'thinking', 'text': 'x'}]}]}",
        "{'messages': [{'role': 'system', 'tools': []}]}",
        "{'messages': [{'role': 'assistant', 'prefix': true}]}",
        "{'messages': [{'role': 'assistant', 'name': 1}]}",
        "{'messages': [{'role': 'assistant', 'tool_calls': {}}]}",
        "{'messages': [{'role': 'assistant', 'tool_calls': [{'function': {'arguments': '[]'}}]}]}",
        "{'messages': [{'role': 'assistant', 'tool_calls': [{'function': {'arguments': '{'}}]}]}",
        "{'messages': [{'role': 'assistant', 'tool_calls': [{'type': 'x', 'function': {}}]}]}",
        "{'messages': [HI], 'continue_final_message': 1}",
        "{'messages': [HI], 'input_ids': [1]}",
        "{'messages': [HI], 'reasoning': {'effort': 'low'}}",
        "{'messages': [HI], 'reasoning_effort': 'huge'}",
        "{'messages': [HI], 'chat_template_kwargs': []}",
        "{'messages': [HI], 'tools': {}}",
        "{'messages': [HI], 'tools': [{'function': {}}]}",
        "{'messages': [HI], 'tools': [{'type': 1, 'function': {'name': 'f'}}]}",
        "{'messages': [HI], 'tools': [{'function': {'name': 'f', 'strict': 1}}]}",
        "{'messages': [HI], 'tools': [{'function': {'name': 'f', 'parameters':"
            + " {'properties': {'a': {'type': 'varchar'}}}}}]}",
        "{'messages': [HI], 'tools': [{'function': {'name': 'f', 'parameters':"
            + " {'type': ['null', 'null']}}}]}",
        "{'messages': [HI], 'tool_choice': 'required'}",
        "{'messages': [HI], 'tool_choice': 'perhaps'}",
        "{'messages': [HI], 'tools': [{'function': {'name': 'f'}}], 'tool_choice':"
            + " {'function': {'name': 'g'}}}"
      })
  void whatTheEngineRefusesOrReadsOtherwiseIsRefused(String body) {
    assertThat(refused(DUMP, body.replace("HI", HI)).fallbackCause())
        .isEqualTo(FallbackCause.INVALID_REQUEST);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'chat_template_kwargs': {'chat_template': 'x'} | REQUEST_TEMPLATE",
        "'chat_template_kwargs': {'tools': []} | REQUEST_TEMPLATE",
        "'reasoning_effort': 'low' | TEMPLATE_UNSUPPORTED"
      },
      quoteCharacter = '~')
  void argumentsThatSteerTheCallAreRefused(String field, FallbackCause reason) {
    assertThat(refused("{{ low_effort }}", body(HI, field)).fallbackCause()).isEqualTo(reason);
  }

  @Test
  void mediaAreRefused() {
    String image = "{'role': 'user', 'content': [{'type': 'image_url', 'image_url': {}}]}";
    assertThat(refused(DUMP, body(image, "'n': 1")).fallbackCause())
        .isEqualTo(FallbackCause.MULTIMODAL);
  }

  @Test
  void imagesStandWhereTheyAre() {
    String image = "{'type': 'image_url', 'image_url': {'url': 'http://a/1', 'detail': 'auto'}}";
    String user = "{'role': 'user', 'content': [{'type': 'text', 'text': 'a'}, IMAGE, IMAGE]}";
    String template = "{# image #}" + DUMP;
    ImageParts images = ImageParts.of(null);
    assertThat(
            renderer(template, ChatOptions.defaults())
                .render(parsed(body(user.replace("IMAGE", image), "'n': 1")), images))
        .isEqualTo(
            "[{\"role\": \"user\", \"content\": [{\"type\": \"text\", \"text\": \"a\"},"
                + " {\"type\": \"image\"}, {\"type\": \"image\"}]}]");
    assertThat(images.isEmpty()).isFalse();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "user | {'type': 'image_url', 'image_url': {'url': 'http://a/1', 'detail': 'low'}}",
        "user | {'type': 'image_url', 'image_url': {'url': 'http://a/1', 'content_hash': 'x'}}",
        "user | {'type': 'image_url', 'image_url': {'url': 'http://a/1'}, 'modalities': 'x'}",
        "user | {'type': 'image_url', 'image_url': {'url': 'http://a/1'}, 'max_dynamic_patch': 1}",
        "user | {'type': 'image_url', 'image_url': 'http://a/1'}",
        "user | {'type': 'image_url', 'image_url': {'url': 'file:///a'}}",
        "user | {'type': 'video_url', 'video_url': {'url': 'http://a/1'}}",
        "system | {'type': 'image_url', 'image_url': {'url': 'http://a/1'}}"
      },
      quoteCharacter = '~')
  void imagesThatMayBeReadInAnotherWayAreRefused(String role, String part) {
    ObjectNode chat = parsed(body("{'role': '" + role + "', 'content': [" + part + "]}", "'n': 1"));
    SglangRenderer renderer = renderer("{# image #}" + DUMP, ChatOptions.defaults());
    InexactPromptException refused =
        catchThrowableOfType(
            InexactPromptException.class, () -> renderer.render(chat, ImageParts.of(null)));
    assertThat(refused.fallbackCause()).isEqualTo(FallbackCause.MULTIMODAL);
  }

  @Test
  void toolsMayHaveATemplateOfTheirOwn() {
    Map<String, String> sources = Map.of("default", "d", "tool_use", "t");
    SglangRenderer renderer = SglangRenderer.of(sources, Map.of(), ChatOptions.defaults());
    assertThat(renderer.render(parsed(body(HI, "'n': 1")))).isEqualTo("d");
    assertThat(renderer.render(parsed(body(HI, "'tools': [{'function': {'name': 'f'}}]"))))
        .isEqualTo("t");
    SglangRenderer none = SglangRenderer.of(Map.of(), Map.of(), ChatOptions.defaults());
    ObjectNode plain = parsed(body(HI, "'n': 1"));
    assertThat(
            catchThrowableOfType(InexactPromptException.class, () -> none.render(plain))
                .fallbackCause())
        .isEqualTo(FallbackCause.NO_TEMPLATE);
  }

  private static String body(String messages, String fields) {
    return "{'messages': [" + messages + "], " + fields + "}";
  }

  private static String tools(String tool) {
    return text(TOOLS, body(HI, "'tools': [" + tool + "]"));
  }

  private static ChatOptions options(ContentFormat format, String defaults) {
    return ChatOptions.defaults()
        .with(new ChatOptions.Templates(null, parsed(defaults), format, false, false, Map.of()));
  }

  private static String text(String template, String body) {
    return text(template, body, ChatOptions.defaults());
  }

  private static String text(String template, String body, ChatOptions options) {
    return renderer(template, options).render(parsed(body));
  }

  private static SglangRenderer renderer(String template, ChatOptions options) {
    return SglangRenderer.of(Map.of("default", template), Map.of(), options);
  }

  private static InexactPromptException refused(String template, String body) {
    return catchThrowableOfType(InexactPromptException.class, () -> text(template, body));
  }

  private static ObjectNode parsed(String json) {
    try {
      return (ObjectNode) new ObjectMapper().readTree(json.replace('\'', '"'));
    } catch (JsonProcessingException e) {
      throw new AssertionError(json, e);
    }
  }
}
