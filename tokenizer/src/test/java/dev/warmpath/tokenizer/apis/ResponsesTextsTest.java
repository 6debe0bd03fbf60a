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

/** The chats that vLLM makes of Responses requests, seen through templates that print them. */
class ResponsesTextsTest {

  private static final String DUMP =
      "{% for m in messages %}{{ m.role }}:{{ m.reasoning }}:{{ m.content }}"
          + "{% for c in m.tool_calls or [] %}{{ c | tojson }}{% endfor %}|{% endfor %}";
  private static final String HI = "{'role': 'user', 'content': 'Hi'}";

  @Test
  void instructionsAreTheSystemAndATextIsTheUser() {
    assertThat(text(DUMP, "'input': 'Hi', 'instructions': 'I'")).isEqualTo("system::I|user::Hi|");
    assertThat(text(DUMP, "'input': '', 'instructions': ''")).isEqualTo("user::|");
  }

  @Test
  void whatTheModelSaidIsPutTogether() {
    String items =
        HI
            + ",{'type': 'reasoning', 'summary': [{'text': 'S'}], 'content': [{'text': 'T'}]},"
            + "{'type': 'message', 'role': 'assistant', 'content': [{'type': 'output_text',"
            + " 'text': 'o1'}, {'type': 'output_text', 'text': 'o2'}]},"
            + "{'type': 'function_call', 'call_id': 'c', 'name': 'f', 'namespace': 'n',"
            + " 'arguments': '{\\'a\\': 1}'},"
            + "{'type': 'function_call_output', 'call_id': 'c', 'output': 'r'},"
            + "{'role': 'assistant', 'content': 'x'}, {'type': 'reasoning', 'summary': []},"
            + "{'role': 'assistant', 'content': 'y'}";
    assertThat(text(DUMP, "'input': [" + items + "]"))
        .isEqualTo(
            "user::Hi|assistant:T:o1{\"id\": \"c\", \"function\": {\"name\": \"n__f\","
                + " \"arguments\": {\"a\": 1}}, \"type\": \"function\"}|"
                + "tool::r|assistant::x|assistant::y|");
  }

  @Test
  void customCallsHaveOneText() {
    String items =
        "{'type': 'custom_tool_call', 'call_id': 'c', 'name': 'f', 'input': 'é'},"
            + "{'type': 'custom_tool_call_output', 'call_id': 'c', 'output':"
            + " [{'type': 'input_text', 'text': 'a'}, {'type': 'input_text', 'text': 'b'}]}";
    assertThat(text(DUMP, "'input': [" + items + "]"))
        .contains("{\"input\": \"é\"}")
        .endsWith("tool::a\nb|");
  }

  @Test
  void toolsAreFlatHereAndThoseOfOtherTypesAreNotShown() {
    String template = "{{ tools | tojson }}";
    assertThat(
            text(
                template,
                "'input': 'x', 'tools': [{'type': 'function', 'name': 'f', 'parameters': null,"
                    + " 'strict': true}, {'type': 'web_search'}, {'type': 'namespace', 'name': 'n',"
                    + " 'tools': [{'type': 'function', 'name': 'g'}]}]"))
        .isEqualTo(
            "[{\"type\": \"function\", \"function\": {\"name\": \"f\", \"description\": null,"
                + " \"parameters\": null, \"strict\": true}}, {\"type\": \"function\","
                + " \"function\": {\"name\": \"n__g\", \"description\": null, \"parameters\": null}}]");
    assertThat(text(template, "'input': 'x', 'tools': [{'type': 'custom', 'name': 'c'}]"))
        .contains("\"input\": {\"type\": \"string\"", "\"additionalProperties\": false");
    assertThat(text(template, "'input': 'x', 'tools': []")).isEqualTo("null");
    assertThat(text(template, "'input': 'x', 'tools': [{'type': 'web_search'}]")).isEqualTo("[]");
  }

  @Test
  void anUnfinishedLastItemIsContinued() {
    String last =
        "{'type': 'message', 'role': 'assistant', 'status': 'STATUS', 'content':"
            + " [{'type': 'output_text', 'text': 'So'}]}";
    String template = "{{ messages[-1].content }}!{{ add_generation_prompt }}";
    assertThat(text(template, "'input': [" + last.replace("STATUS", "incomplete") + "]"))
        .isEqualTo("So");
    assertThat(text(template, "'input': [" + last.replace("STATUS", "completed") + "]"))
        .isEqualTo("So!True");
  }

  @Test
  void anEffortOpensThinkingUnlessTheRequestSaysOtherwise() {
    String template = "{{ reasoning_effort }},{{ enable_thinking }}";
    assertThat(text(template, "'input': 'x', 'reasoning': {'effort': 'low'}"))
        .isEqualTo("low,True");
    assertThat(text(template, "'input': 'x', 'reasoning': {'effort': 'none'}"))
        .isEqualTo("none,False");
    assertThat(
            text(
                template,
                "'input': 'x', 'reasoning': {'effort': 'low'}, 'chat_template_kwargs':"
                    + " {'enable_thinking': false}"))
        .isEqualTo("low,False");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "'input': [] | INVALID_REQUEST",
        "'input': 1 | INVALID_REQUEST",
        "'input': 'x', 'instructions': 1 | INVALID_REQUEST",
        "'input': 'x', 'prompt': {'id': 'p'} | INVALID_REQUEST",
        "'input': 'x', 'reasoning': 'low' | INVALID_REQUEST",
        "'input': 'x', 'tools': {} | INVALID_REQUEST",
        "'input': 'x', 'tools': [{'type': 'function'}] | INVALID_REQUEST",
        "'input': 'x', 'tools': [{'type': 'custom', 'name': 'c', 'format': {'type': 'grammar'}}] | INVALID_REQUEST",
        "'input': 'x', 'previous_response_id': 'r' | STORED_HISTORY",
        "'input': [{'type': 'item_reference', 'id': 'x'}] | INVALID_REQUEST",
        "'input': [{'role': 'critic', 'content': 'x'}] | INVALID_REQUEST",
        "'input': [{'role': 'user', 'content': [{'type': 'audio'}]}] | INVALID_REQUEST",
        "'input': [{'role': 'user', 'content': [{'type': 'input_image'}]}] | MULTIMODAL",
        "'input': [{'role': 'assistant', 'content': [{'type': 'output_text', 'text': 'x'}]}] | INVALID_REQUEST",
        "'input': [{'type': 'reasoning'}] | INVALID_REQUEST",
        "'input': [{'type': 'reasoning', 'summary': [], 'encrypted_content': 'x'}] | INVALID_REQUEST",
        "'input': [{'type': 'function_call', 'name': 'f'}] | INVALID_REQUEST",
        "'input': [{'type': 'function_call_output', 'call_id': 'c'}] | INVALID_REQUEST"
      })
  void whatTheEngineRefusesOrStoresIsRefused(String fields, FallbackCause reason) {
    InexactPromptException refused =
        catchThrowableOfType(InexactPromptException.class, () -> text(DUMP, fields));
    assertThat(refused.fallbackCause()).isEqualTo(reason);
  }

  private static ResponsesTexts texts(String template) {
    return new ResponsesTexts(
        ChatRenderer.of(Map.of("default", template), Map.of(), ChatOptions.defaults()));
  }

  private static String text(String template, String fields) {
    return texts(template).render(parsed("{" + fields + "}"));
  }

  private static ObjectNode parsed(String json) {
    try {
      String quoted = json.replace("\\'", "\\\"").replaceAll("(?<!\\\\)'", "\"");
      return (ObjectNode) new ObjectMapper().readTree(quoted);
    } catch (JsonProcessingException e) {
      throw new AssertionError(json, e);
    }
  }
}
