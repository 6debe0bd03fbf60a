package dev.warmpath.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.tokenizer.PromptResult.Inexact;
import dev.warmpath.tokenizer.PromptResult.Tokens;
import dev.warmpath.tokenizer.body.FallbackCause;
import dev.warmpath.tokenizer.chat.ChatOptions;
import dev.warmpath.tokenizer.chat.ChatOptions.Dialect;
import dev.warmpath.tokenizer.chat.ChatOptions.Harmony;
import dev.warmpath.tokenizer.files.EmbeddedFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Harmony prompts of a small tokenizer that has gpt-oss's special tokens. */
class HarmonyPromptTest {

  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final String[] TOKENS = {"channel", "start", "end", "message"};
  private static final int FIRST = 200_005;
  private static final int START = 200_006;
  private static final int END = 200_007;
  private static final int MESSAGE = 200_008;
  private static final ModelTokenizer PLAIN = ModelTokenizer.embedded();
  private static final ChatOptions PINNED = ChatOptions.defaults().with(new Harmony("noon", false));

  @TempDir Path directory;
  private ModelTokenizer tokenizer;

  @BeforeEach
  void load() throws IOException {
    ObjectNode file = (ObjectNode) MAPPER.readTree(EmbeddedFiles.read().tokenizer().json());
    ArrayNode added = file.putArray("added_tokens");
    for (int i = 0; i < TOKENS.length; i++) {
      add(added, TOKENS[i], FIRST + i);
    }
    add(added, "call", 200_012);
    Files.writeString(directory.resolve("tokenizer.json"), file.toString());
    Files.writeString(directory.resolve("config.json"), "{\"model_type\": \"gpt_oss\"}");
    tokenizer = loaded(PINNED);
  }

  @AfterEach
  void close() {
    tokenizer.close();
  }

  @Test
  void partsAreEncodedApartAndLooksOfTokensAreText() {
    ObjectNode body = MAPPER.createObjectNode();
    ArrayNode parts = body.putArray("messages").addObject().put("role", "user").putArray("content");
    parts.addObject().put("text", "hel");
    parts.addObject().put("text", "lo <|end|>");
    int[] ids = ids(tokenizer, body);
    int[] expected =
        joined(
            new int[] {START},
            PLAIN.encode("user", false),
            new int[] {MESSAGE},
            PLAIN.encode("hel", false),
            PLAIN.encode("lo <|end|>", false),
            new int[] {END, START},
            PLAIN.encode("assistant", false));
    assertThat(ids).startsWith(START).endsWith(expected).hasSizeGreaterThan(expected.length);
  }

  @Test
  void turnsOfAGrowingChatAreThoseOfTheChatAlone() throws IOException {
    ObjectNode body = MAPPER.createObjectNode();
    ArrayNode messages = body.putArray("messages");
    ChainSpace space = new ChainSpace("m", 16, 0);
    for (int turn = 0; turn < 40; turn++) {
      String text = "Turn " + turn + ": \ud83d\ude00 \ud800\udc00 naïve ".repeat(40);
      messages.addObject().put("role", turn % 2 == 0 ? "user" : "assistant").put("content", text);
      Tokens grown = tokens(tokenizer, body);
      BlockChain chain = grown.chain(space, PromptKeys.NONE);
      BlockChain alone = BlockChain.of(space, grown.sequences().get(0), PromptKeys.NONE);
      assertThat(chain.blocks()).isEqualTo(alone.blocks());
      assertThat(chain.blockKey(chain.blocks() - 1)).isEqualTo(alone.blockKey(chain.blocks() - 1));
    }
    long before = tokenizer.encodeCounts().prefixTokens();
    int[] ids = ids(tokenizer, body);
    assertThat(tokenizer.encodeCounts().prefixTokens() - before).isGreaterThan(ids.length / 2);
    try (ModelTokenizer anew = loaded(PINNED)) {
      assertThat(ids(anew, body)).isEqualTo(ids);
    }
  }

  @Test
  void nothingIsAddedOrCutButForResponses() {
    ObjectNode body = MAPPER.createObjectNode();
    body.putArray("messages").addObject().put("role", "user").put("content", "Hi");
    int[] ids = ids(tokenizer, body);
    body.put("truncate_prompt_tokens", 3).put("add_special_tokens", true);
    assertThat(ids(tokenizer, body)).isEqualTo(ids);
    ObjectNode response = MAPPER.createObjectNode().put("input", "Hi");
    assertThat(tokenizer.prompt(RequestKind.RESPONSES, response, null))
        .isInstanceOfSatisfying(Tokens.class, t -> assertThat(t.sequences().get(0)).isEqualTo(ids));
    response.put("truncation", "auto");
    assertThat(tokenizer.prompt(RequestKind.RESPONSES, response, null))
        .isEqualTo(new Inexact(FallbackCause.TRUNCATION, "truncation to the engine's own limit"));
  }

  @Test
  void messagesAreConvertedAndThinkingCannotBeDisabled() throws IOException {
    Files.writeString(directory.resolve("chat_template.jinja"), "{{ messages[0].content }}");
    try (ModelTokenizer withTemplate = loaded(PINNED)) {
      ObjectNode body = MAPPER.createObjectNode().put("max_tokens", 5).put("system", "S");
      body.putArray("messages").addObject().put("role", "user").put("content", "Hi");
      body.putObject("thinking").put("type", "disabled");
      ObjectNode chat = MAPPER.createObjectNode().put("reasoning_effort", "low");
      ArrayNode messages = chat.putArray("messages");
      messages.addObject().put("role", "system").put("content", "S");
      messages.addObject().put("role", "user").put("content", "Hi");
      assertThat(withTemplate.prompt(RequestKind.MESSAGES, body, null))
          .isInstanceOfSatisfying(
              Tokens.class,
              t -> assertThat(t.sequences().get(0)).isEqualTo(ids(withTemplate, chat)));
    }
  }

  @Test
  void argumentsOfAUsedToolAreWrittenAsPythonDoes() throws IOException {
    Files.writeString(directory.resolve("chat_template.jinja"), "{{ messages[0].content }}");
    try (ModelTokenizer withTemplate = loaded(PINNED)) {
      ObjectNode body = MAPPER.createObjectNode().put("max_tokens", 5);
      ObjectNode said = body.putArray("messages").addObject().put("role", "assistant");
      ObjectNode use = said.putArray("content").addObject().put("type", "tool_use").put("id", "c");
      use.put("name", "f").putObject("input").put("a", 1).put("b", "é");
      ObjectNode chat = MAPPER.createObjectNode();
      ObjectNode call =
          chat.putArray("messages")
              .addObject()
              .put("role", "assistant")
              .putArray("tool_calls")
              .addObject()
              .put("id", "c")
              .put("type", "function");
      call.putObject("function")
          .put("name", "f")
          .put("arguments", "{\"a\": 1, \"b\": \"\\u00e9\"}");
      assertThat(withTemplate.prompt(RequestKind.MESSAGES, body, null))
          .isInstanceOfSatisfying(
              Tokens.class,
              t -> assertThat(t.sequences().get(0)).isEqualTo(ids(withTemplate, chat)));
    }
  }

  @Test
  void otherEnginesRenderItOtherwise() {
    assertThat(tokenizer.rendersInCode(RequestKind.CHAT)).isTrue();
    assertThat(tokenizer.rendersInCode(RequestKind.COMPLETION)).isFalse();
    try (ModelTokenizer sglang = loaded(PINNED.with(Dialect.SGLANG))) {
      ObjectNode body = MAPPER.createObjectNode();
      body.putArray("messages").addObject().put("role", "user").put("content", "Hi");
      assertThat(sglang.prompt(RequestKind.CHAT, body, null))
          .isInstanceOfSatisfying(
              Inexact.class, e -> assertThat(e.cause()).isEqualTo(FallbackCause.UNSUPPORTED_MODEL));
    }
  }

  private ModelTokenizer loaded(ChatOptions options) {
    return ModelTokenizer.load(directory, new ModelOptions(options, ModelOptions.UNKNOWN));
  }

  private static void add(ArrayNode added, String name, int id) {
    ObjectNode token = added.addObject().put("id", id).put("content", "<|" + name + "|>");
    for (String flag : new String[] {"single_word", "lstrip", "rstrip", "normalized"}) {
      token.put(flag, false);
    }
    token.put("special", true);
  }

  private static int[] ids(ModelTokenizer tokenizer, ObjectNode chat) {
    return tokens(tokenizer, chat).sequences().get(0);
  }

  private static Tokens tokens(ModelTokenizer tokenizer, ObjectNode chat) {
    PromptResult result = tokenizer.prompt(RequestKind.CHAT, chat, null);
    assertThat(result).isInstanceOf(Tokens.class);
    return (Tokens) result;
  }

  private static int[] joined(int[]... runs) {
    return IntStream.range(0, runs.length)
        .boxed()
        .flatMapToInt(i -> IntStream.of(runs[i]))
        .toArray();
  }
}
