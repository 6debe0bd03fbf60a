package dev.warmpath.tokenizer.apis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.tokenizer.body.FallbackCause;
import dev.warmpath.tokenizer.body.InexactPromptException;
import dev.warmpath.tokenizer.chat.ChatOptions;
import dev.warmpath.tokenizer.chat.ChatRenderer;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The chats that vLLM makes of Messages requests, seen through templates that print them. */
class MessagesTextsTest {

  private static final String DUMP =
      "{% for m in messages %}{{ m.role }}:{{ m.reasoning }}:{{ m.content }}"
          + "{% for c in m.tool_calls or [] %}[{{ c.id }} {{ c.function.name }}"
          + " {{ c.function.arguments | tojson }}]{% endfor %}|{% endfor %}";
  private static final String HI = "{'role': 'user', 'content': 'Hi'}";

  @Test
  void systemTextsAreJoinedWithoutTheBillingHeader() {
    assertThat(text(DUMP, "'system': 'S', 'messages': [" + HI + "]"))
        .isEqualTo("system::S|user::Hi|");
    String blocks =
        "'system': [{'type': 'text', 'text': 'x-anthropic-billing-header: z'},"
            + " {'type': 'text', 'text': 'A', 'cache_control': {}}, {'type': 'text', 'text': 'B'}],"
            + " 'messages': [";
    assertThat(text(DUMP, blocks + HI + "]")).isEqualTo("system::AB|user::Hi|");
    String late = "{'role': 'system', 'content': 'L'}," + HI;
    String header = "{'role': 'system', 'content': 'x-anthropic-billing-header: z'}," + HI;
    assertThat(text(DUMP, blocks + HI + "," + late + "," + header + "]"))
        .isEqualTo("system::AB|user::Hi|system::L|user::Hi|user::Hi|");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{% if messages[2].role == 'system' %}{{ raise_exception('late') }}{% endif %}",
        "{{ strftime_now('%Y') }}",
        "{{ bos_token + '' }}",
        "{% generation %}{% endgeneration %}"
      })
  void templatesThatTakeNoLateSystemMessageGetTheirTextsInTheFirst(String guard) {
    String body =
        "'system': 'S', 'messages': [" + HI + ",{'role': 'system', 'content': 'L'}," + HI + "]";
    assertThat(text("{% if messages | length > 3 %}" + guard + "{% endif %}" + DUMP, body))
        .endsWith("system::SL|user::Hi|user::Hi|");
  }

  @Test
  void blocksOfTheAssistantBecomeReasoningTextAndCalls() {
    String answer =
        "{'role': 'assistant', 'content': [{'type': 'thinking', 'thinking': 'T1'},"
            + " {'type': 'thinking', 'thinking': 'T2'}, {'type': 'redacted_thinking', 'data': 'x'},"
            + " {'type': 'text', 'text': 'ok'}, {'type': 'text', 'text': ''},"
            + " {'type': 'tool_use', 'id': 't1', 'name': 'f', 'input': {'b': 1.0, 'a': 'é'}},"
            + " {'type': 'tool_use', 'id': 't2'}]}";
    assertThat(text(DUMP, "'messages': [" + HI + "," + answer + "]"))
        .isEqualTo("user::Hi|assistant:T1T2:ok[t1 f {\"b\": 1.0, \"a\": \"é\"}][t2  {}]|");
    assertThat(text(DUMP, "'messages': [" + HI + ",{'role': 'assistant', 'content': []}]"))
        .isEqualTo("user::Hi|assistant::|");
  }

  @Test
  void resultsOfToolsStandBeforeTheirMessage() {
    String user =
        "{'role': 'user', 'content': [{'type': 'text', 'text': 'more'},"
            + " {'type': 'tool_result', 'tool_use_id': 't1', 'content': [{'type': 'text',"
            + " 'text': 'r1'}, {'type': 'x'}, {'type': 'text', 'text': 'r2'},"
            + " {'type': 'tool_reference', 'tool_name': 'g'}]}]}";
    assertThat(text(DUMP, "'messages': [" + user + "]"))
        .isEqualTo("tool::r1\nr2|tool::g|user::more|");
    String alone = "{'role': 'user', 'content': [{'type': 'tool_result', 'tool_use_id': 't'}]}";
    assertThat(text(DUMP, "'messages': [" + alone + "]")).isEqualTo("tool::|");
    String own =
        "{'role': 'assistant', 'content': [{'type': 'tool_result', 'content':"
            + " [{'type': 'text', 'text': 'x'}]}]}";
    assertThat(text(DUMP, "'messages': [" + own + "]"))
        .isEqualTo("assistant::Tool result: [{'type': 'text', 'text': 'x'}]|");
  }

  @Test
  void toolsGetATypeAtTheEndAndAnEmptyListStaysAList() {
    String template = "{{ tools | tojson }}";
    String hi = "'messages': [" + HI + "], ";
    assertThat(text(template, hi + "'tools': [{'name': 'f', 'input_schema': {'properties': {}}}]"))
        .isEqualTo(
            "[{\"type\": \"function\", \"function\": {\"name\": \"f\", \"description\": null,"
                + " \"parameters\": {\"properties\": {}, \"type\": \"object\"}}}]");
    assertThat(text(template, hi + "'tools': []")).isEqualTo("[]");
    assertThat(text(template, hi + "'tools': null")).isEqualTo("null");
    assertThat(text(template, hi + "'tools': [], 'tool_choice': {'type': 'any'}")).isEqualTo("[]");
  }

  @Test
  void effortsComeFromTheirFieldAndDisabledThinkingFromAProbe() {
    String shows = "{{ reasoning_effort }},{{ enable_thinking }}";
    String hi = "'messages': [" + HI + "], ";
    assertThat(text(shows, hi + "'output_config': {'effort': 'max'}")).isEqualTo("max,True");
    assertThat(
            text(
                shows, hi + "'output_config': {'effort': 'max'}, 'thinking': {'type': 'disabled'}"))
        .isEqualTo("none,False");
    assertThat(text(shows, hi + "'thinking': {'type': 'enabled', 'budget_tokens': 1024}"))
        .isEqualTo(",");
    String ignores =
        "{% if enable_thinking is defined and messages[0].content != 'Hi' %}"
            + "{{ reasoning_effort }}{% endif %}";
    String other =
        "'messages': [{'role': 'user', 'content': 'x'}], 'thinking': {'type': 'disabled'}";
    assertThat(text(ignores, other)).isEqualTo("low");
    String raises =
        "{% if reasoning_effort == 'none' %}{{ raise_exception('no') }}{% endif %}"
            + "{{ reasoning_effort }}";
    assertThat(text(raises, other)).isEqualTo("low");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "{'messages': 1, 'max_tokens': 5} | INVALID_REQUEST",
        "{'messages': [HI]} | INVALID_REQUEST",
        "{'messages': [], 'max_tokens': 5} | INVALID_REQUEST",
        "{'messages': [{'role': 'tool', 'content': 'x'}], 'max_tokens': 5} | INVALID_REQUEST",
        "{'messages': [{'role': 'user'}], 'max_tokens': 5} | INVALID_REQUEST",
        "{'messages': [{'role': 'user', 'content': [{'type': 'document'}]}], 'max_tokens': 5} | INVALID_REQUEST",
        "{'messages': [{'role': 'user', 'content': [{'type': 'text', 'text': 1}]}], 'max_tokens': 5} | INVALID_REQUEST",
        "{'messages': [{'role': 'user', 'content': [{'type': 'tool_removal'}]}], 'max_tokens': 5} | INVALID_REQUEST",
        "{'messages': [HI, {'role': 'system', 'content': [{'type': 'tool_removal'}]}], 'max_tokens': 5} | INVALID_REQUEST",
        "{'messages': [HI, {'role': 'system', 'content': [{'type': 'tool_addition'}]}], 'max_tokens': 5} | INVALID_REQUEST",
        "{'messages': [{'role': 'assistant', 'content': [{'type': 'tool_use'}]}], 'max_tokens': 5} | INVALID_REQUEST",
        "{'messages': [{'role': 'user', 'content': [{'type': 'image', 'source': {'type': 'url'}}]}], 'max_tokens': 5} | MULTIMODAL",
        "{'messages': [{'role': 'user', 'content': [{'type': 'tool_result', 'content': [{'type': 'image'}]}]}], 'max_tokens': 5} | MULTIMODAL",
        "{'messages': [HI], 'system': 1, 'max_tokens': 5} | INVALID_REQUEST",
        "{'messages': [HI], 'tools': [{'name': 'f'}], 'max_tokens': 5} | INVALID_REQUEST",
        "{'messages': [HI], 'tool_choice': {'type': 'tool'}, 'max_tokens': 5} | INVALID_REQUEST",
        "{'messages': [HI], 'thinking': {'type': 'enabled', 'budget_tokens': 1024}, 'max_tokens': 5} | INVALID_REQUEST",
        "{'messages': [HI], 'thinking': {'type': 'never'}, 'max_tokens': 5} | INVALID_REQUEST",
        "{'messages': [HI], 'output_config': {'effort': 'none'}, 'max_tokens': 5} | INVALID_REQUEST",
        "{'messages': [HI], 'chat_template_kwargs': {'chat_template': 'x'}, 'max_tokens': 5} | REQUEST_TEMPLATE"
      })
  void whatTheEngineRefusesIsRefused(String body, FallbackCause reason) {
    assertThat(refused(parsed(body.replace("HI", HI)))).isEqualTo(reason);
  }

  private static MessagesTexts texts(String template) {
    return new MessagesTexts(
        ChatRenderer.of(Map.of("default", template), Map.of(), ChatOptions.defaults()));
  }

  private static String text(String template, String fields) {
    return texts(template).render(parsed("{'max_tokens': 2048, " + fields + "}"));
  }

  private static FallbackCause refused(ObjectNode body) {
    return catchThrowableOfType(InexactPromptException.class, () -> texts(DUMP).render(body))
        .fallbackCause();
  }

  private static ObjectNode parsed(String json) {
    try {
      return (ObjectNode) new ObjectMapper().readTree(json.replace('\'', '"'));
    } catch (JsonProcessingException e) {
      throw new AssertionError(json, e);
    }
  }
}
