package dev.warmpath.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.tokenizer.PromptResult.Inexact;
import dev.warmpath.tokenizer.PromptResult.Tokens;
import dev.warmpath.tokenizer.body.FallbackCause;
import dev.warmpath.tokenizer.train.BpeTrainer;
import dev.warmpath.tokenizer.train.TokenizerFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Chats through the embedded template, and through templates that the tests write. */
class ChatPromptTest {

  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final ModelTokenizer EMBEDDED = ModelTokenizer.embedded();
  private static final String CHAT =
      "{'messages': [{'role': 'system', 'content': 'Be brief.'}, {'role': 'user', 'content': 'Hi'}]%s}";

  @TempDir Path directory;

  @Test
  void messagesBecomeTheTemplatesText() {
    Tokens tokens = tokens(CHAT.formatted(""));
    assertThat(tokens.text())
        .isEqualTo(
            "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n"
                + "<|im_start|>assistant\n");
    assertThat(tokens.sequences()).containsExactly(EMBEDDED.encode(tokens.text(), false));
    assertThat(tokens.comparable()).isTrue();
    assertThat(tokens.readsCache()).isTrue();
  }

  @Test
  void theNextTurnBeginsWithThisOneAndItsAnswer() {
    String first = tokens(CHAT.formatted("")).text();
    String second =
        tokens(
                "{'messages': [{'role': 'system', 'content': 'Be brief.'},"
                    + " {'role': 'user', 'content': 'Hi'},"
                    + " {'role': 'assistant', 'content': 'Hello!'},"
                    + " {'role': 'user', 'content': 'Bye'}]}")
            .text();
    assertThat(second).startsWith(first + "Hello!<|im_end|>\n");
  }

  @Test
  void toolsAndCallsAreRendered() {
    String tool = "{'type': 'function', 'function': {'name': 'f', 'parameters': {'a': 1}}}";
    String call = "{'id': 'c', 'type': 'function', 'function': {'name': 'f', 'arguments': '{}'}}";
    String chat =
        "{'tools': [%s], 'messages': [{'role': 'user', 'content': 'Hi'},"
            + " {'role': 'assistant', 'tool_calls': [%s]},"
            + " {'role': 'tool', 'tool_call_id': 'c', 'content': 'done'}]}";
    assertThat(tokens(chat.formatted(tool, call)).text())
        .contains("\"name\": \"f\", \"description\": null, \"parameters\": {\"a\": 1}")
        .contains("<|im_start|>assistant\n\n{\"arguments\": {}, \"name\": \"f\"}<|im_end|>")
        .contains("<|im_start|>tool\ndone<|im_end|>\n<|im_start|>assistant\n");
  }

  @Test
  void saltAndAdapterAreAmongTheKeys() {
    PromptResult result =
        EMBEDDED.prompt(RequestKind.CHAT, body(CHAT.formatted(", 'cache_salt': 's'")), "lora");
    assertThat(((Tokens) result).keys()).isEqualTo(new PromptKeys("lora", "s"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'echo': true | false",
        "'echo': true, 'top_logprobs': null | true",
        "'echo': true, 'top_logprobs': 2 | false",
        "'prompt_logprobs': 0 | false",
        "'logprobs': true, 'top_logprobs': 2 | true"
      })
  void anEchoForbidsReuse(String fields, boolean readsCache) {
    assertThat(tokens(CHAT.formatted(", " + fields)).readsCache()).isEqualTo(readsCache);
  }

  @Test
  void truncationCutsTheRenderedPrompt() {
    int[] whole = tokens(CHAT.formatted("")).sequences().get(0);
    int[] cut = tokens(CHAT.formatted(", 'truncate_prompt_tokens': 3")).sequences().get(0);
    assertThat(whole).endsWith(cut).hasSizeGreaterThan(cut.length);
    assertThat(cut).hasSize(3);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'messages': [] | INVALID_REQUEST",
        "'messages': [{'role': 'user', 'content': [{'type': 'image_url',"
            + " 'image_url': {'url': 'u'}}]}] | MULTIMODAL",
        "'messages': [{'role': 'user', 'content': 'a'}], 'chat_template': 'x' | REQUEST_TEMPLATE",
        "'messages': [{'role': 'user', 'content': 'a'}], 'extra_key': ['x'] | HIDDEN_NAMESPACE",
        "'messages': [{'role': 'user', 'content': 'a'}], 'lora_path': 'x' | HIDDEN_NAMESPACE",
        "'messages': [{'role': 'user', 'content': 'a'}], 'cache_salt': '\\u0000page:1' | INVALID_REQUEST",
        "'messages': [{'role': 'user', 'content': 'a'}], 'n': 'x' | INVALID_REQUEST",
        "'messages': [{'role': 'user', 'content': 'a'}], 'kv_transfer_params':"
            + " {'prompt_token_ids': [1]} | KV_TRANSFER"
      })
  void whatCannotBeRenderedHasItsReason(String fields, FallbackCause reason) {
    assertThat(refusal(EMBEDDED, "{" + fields + "}")).isEqualTo(reason);
  }

  @Test
  void aModelWithoutTemplateOrWithABrokenOneRendersNoChats() throws IOException {
    assertThat(refusalWith("config.json", "{}")).isEqualTo(FallbackCause.NO_TEMPLATE);
    assertThat(refusalWith("chat_template.jinja", "{% if %}"))
        .isEqualTo(FallbackCause.TEMPLATE_ERROR);
    assertThat(refusalWith("chat_template.jinja", "{{ raise_exception('no') }}"))
        .isEqualTo(FallbackCause.TEMPLATE_ERROR);
    assertThat(refusalWith("config.json", "{\"model_type\": \"gpt_oss\"}"))
        .isEqualTo(FallbackCause.UNSUPPORTED_MODEL);
  }

  private FallbackCause refusalWith(String file, String content) throws IOException {
    String tokenizer = TokenizerFile.of(BpeTrainer.train("", 256), List.of());
    Files.writeString(directory.resolve("tokenizer.json"), tokenizer);
    Files.writeString(directory.resolve(file), content);
    try (ModelTokenizer loaded = ModelTokenizer.load(directory)) {
      return refusal(loaded, CHAT.formatted(""));
    }
  }

  private static FallbackCause refusal(ModelTokenizer tokenizer, String body) {
    PromptResult result = tokenizer.prompt(RequestKind.CHAT, body(body), null);
    assertThat(result).isInstanceOf(Inexact.class);
    return ((Inexact) result).cause();
  }

  private static Tokens tokens(String body) {
    PromptResult result = EMBEDDED.prompt(RequestKind.CHAT, body(body), null);
    assertThat(result).isInstanceOf(Tokens.class);
    return (Tokens) result;
  }

  private static ObjectNode body(String json) {
    try {
      return (ObjectNode) MAPPER.readTree(json.replace('\'', '"'));
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(e);
    }
  }
}
