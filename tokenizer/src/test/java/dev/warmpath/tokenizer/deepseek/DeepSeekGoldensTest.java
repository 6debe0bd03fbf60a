package dev.warmpath.tokenizer.deepseek;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.tokenizer.apis.MessagesTexts;
import dev.warmpath.tokenizer.apis.ResponsesTexts;
import dev.warmpath.tokenizer.body.InexactPromptException;
import dev.warmpath.tokenizer.chat.ChatOptions;
import dev.warmpath.tokenizer.chat.ChatOptions.ContentFormat;
import dev.warmpath.tokenizer.chat.ChatOptions.Templates;
import dev.warmpath.tokenizer.chat.ChatTexts;
import java.io.IOException;
import java.io.InputStream;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Prompts as the engine's own code made them of the same requests; see the README beside them. */
class DeepSeekGoldensTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  @TestFactory
  Stream<DynamicTest> v32() throws IOException {
    return goldens("v32.json", "DeepseekV32ForCausalLM");
  }

  @TestFactory
  Stream<DynamicTest> v4() throws IOException {
    return goldens("v4.json", "DeepseekV4ForCausalLM");
  }

  private static Stream<DynamicTest> goldens(String file, String architecture) throws IOException {
    try (InputStream in = DeepSeekGoldensTest.class.getResourceAsStream(file)) {
      JsonNode goldens = JSON.readTree(Objects.requireNonNull(in)).get("goldens");
      return StreamSupport.stream(goldens.spliterator(), false)
          .map(golden ->
              DynamicTest.dynamicTest(
                  golden.get("name").textValue(),
                  () ->
                      assertThat(prompt(golden, architecture))
                          .isEqualTo(golden.path("text").asText("refused"))));
    }
  }

  private static String prompt(JsonNode golden, String architecture) {
    try {
      return texts(golden, architecture).render((ObjectNode) golden.get("request").deepCopy());
    } catch (InexactPromptException e) {
      return "refused";
    }
  }

  private static ChatTexts texts(JsonNode golden, String architecture) {
    DeepSeekChats chats = DeepSeekChats.of(architecture, options(golden.path("server")));
    return switch (golden.get("api").textValue()) {
      case "messages" -> new MessagesTexts(chats);
      case "responses" -> new ResponsesTexts(chats);
      default -> chats;
    };
  }

  private static ChatOptions options(JsonNode server) {
    JsonNode defaults = server.path("default_chat_template_kwargs");
    return ChatOptions.defaults()
        .with(
            new Templates(
                null,
                defaults.isObject() ? (ObjectNode) defaults : JSON.createObjectNode(),
                ContentFormat.AUTO,
                server.path("exclude_tools_when_tool_choice_none").asBoolean(),
                false,
                Map.of()));
  }
}
