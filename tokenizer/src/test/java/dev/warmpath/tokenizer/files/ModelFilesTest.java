package dev.warmpath.tokenizer.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.tokenizer.encode.TokenizerShape;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ModelFilesTest {

  @TempDir Path directory;

  @BeforeEach
  void writeTokenizer() throws IOException {
    write("tokenizer.json", "{\"model\": {\"vocab\": {\"a\": 0}}}");
  }

  @Test
  void aModelWithoutTemplatesHasNone() {
    assertThat(templates()).isEmpty();
  }

  @Test
  void theConfigurationHoldsOneTemplateOrSeveral() throws IOException {
    write("tokenizer_config.json", "{\"chat_template\": \"one\"}");
    assertThat(templates()).isEqualTo(Map.of("default", "one"));
    write(
        "tokenizer_config.json",
        "{\"chat_template\": [{\"name\": \"default\", \"template\": \"plain\"},"
            + " {\"name\": \"tool_use\", \"template\": \"tools\"}]}");
    assertThat(templates()).isEqualTo(Map.of("default", "plain", "tool_use", "tools"));
  }

  @Test
  void aTemplateFileGoesBeforeTheConfiguration() throws IOException {
    write("tokenizer_config.json", "{\"chat_template\": \"old\"}");
    write("chat_template.json", "{\"chat_template\": \"processor\"}");
    assertThat(templates()).isEqualTo(Map.of("default", "old", "processor", "processor"));
    write("chat_template.jinja", "new");
    Files.createDirectory(directory.resolve("additional_chat_templates"));
    write("additional_chat_templates/tool_use.jinja", "tools");
    assertThat(templates()).isEqualTo(Map.of("default", "new", "tool_use", "tools"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "tokenizer.json",
        "tokenizer_config.json",
        "special_tokens_map.json",
        "chat_template.jinja",
        "chat_template.json",
        "additional_chat_templates/tool_use.jinja",
        "config.json",
        "tekken.json"
      })
  void saysWhichFilesItReads(String name) {
    assertThat(ModelFiles.reads(name)).isTrue();
    assertThat(ModelFiles.reads("../" + name)).isFalse();
    assertThat(ModelFiles.reads("onnx/" + name)).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "model.safetensors",
        "additional_chat_templates/../x.jinja",
        "additional_chat_templates/a/b.jinja",
        "additional_chat_templates/.jinja",
        "additional_chat_templates/a.json"
      })
  void readsNothingElse(String name) {
    assertThat(ModelFiles.reads(name)).isFalse();
  }

  @Test
  void specialTokensAreStringsOrObjects() throws IOException {
    write(
        "tokenizer_config.json",
        "{\"bos_token\": {\"content\": \"<s>\"}, \"eos_token\": null,"
            + " \"extra_special_tokens\": {\"image_token\": \"<image>\"}}");
    write("special_tokens_map.json", "{\"eos_token\": \"</s>\", \"pad_token\": \"<pad>\"}");
    assertThat(ModelFiles.read(directory).specialTokens())
        .containsOnlyKeys("bos_token", "pad_token", "image_token")
        .containsEntry("bos_token", "<s>")
        .containsEntry("pad_token", "<pad>");
  }

  @ParameterizedTest
  @ValueSource(strings = {"gpt_oss", "deepseek_v41", "kimi_k3", "cohere2", "inkling"})
  void modelsThatAreRenderedInCodeAreKnown(String modelType) throws IOException {
    write("config.json", "{\"model_type\": \"" + modelType + "\"}");
    assertThat(ModelFiles.read(directory).rendersChatInCode()).isTrue();
    write("config.json", "{\"model_type\": \"qwen3\"}");
    assertThat(ModelFiles.read(directory).rendersChatInCode()).isFalse();
  }

  @Test
  void modelsOfMistralsTokenizerAreKnown() throws IOException {
    write("tekken.json", "{}");
    assertThat(ModelFiles.read(directory).rendersChatInCode()).isTrue();
    assertThat(ModelFiles.read(directory).tokenizesElsewhere()).isTrue();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{\"model\": {\"vocab\": {\"a\": 0, \"b\": 7}}} | 7 | false",
        "{\"model\": {\"vocab\": [[\"a\", 0.0], [\"b\", -1.5]]}} | 1 | false",
        "{\"added_tokens\": [{\"id\": 9, \"content\": \"x\"}, {\"id\": 3}]} | 9 | false",
        "{\"post_processor\": {\"type\": \"ByteLevel\"}, \"model\": null} | -1 | true",
        "{\"post_processor\": null, \"decoder\": {\"vocab\": {\"a\": 5}}} | -1 | false"
      })
  void theTokenizersFactsAreRead(String json, int maxTokenId, boolean postProcessor) {
    TokenizerShape tokenizer = TokenizerShape.read(json);
    assertThat(tokenizer.maxTokenId()).isEqualTo(maxTokenId);
    assertThat(tokenizer.hasPostProcessor()).isEqualTo(postProcessor);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "tokenizer.json",
        "tokenizer_config.json",
        "config.json",
        "special_tokens_map.json",
        "chat_template.json"
      })
  void aBrokenFileIsNamed(String name) throws IOException {
    for (String content : new String[] {"{\n\"a\": }", "[]", ""}) {
      Path file = write(name, content);
      assertThatThrownBy(() -> ModelFiles.read(directory))
          .isInstanceOf(TokenizerLoadException.class)
          .hasMessageStartingWith(file + ": ");
    }
  }

  @Test
  void aDirectoryWithoutATokenizerSaysWhatIsMissing() throws IOException {
    Files.delete(directory.resolve("tokenizer.json"));
    assertThatThrownBy(() -> ModelFiles.read(directory))
        .isInstanceOf(TokenizerLoadException.class)
        .hasMessageContaining("tokenizer.json: missing");
  }

  private Map<String, String> templates() {
    return ModelFiles.read(directory).templates();
  }

  private Path write(String name, String content) throws IOException {
    return Files.writeString(directory.resolve(name), content);
  }
}
