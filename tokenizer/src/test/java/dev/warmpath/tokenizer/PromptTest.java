package dev.warmpath.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.tokenizer.PromptResult.Inexact;
import dev.warmpath.tokenizer.PromptResult.Tokens;
import dev.warmpath.tokenizer.body.FallbackCause;
import dev.warmpath.tokenizer.chat.ChatOptions;
import dev.warmpath.tokenizer.chat.ChatOptions.Dialect;
import dev.warmpath.tokenizer.encode.TextEncoder;
import dev.warmpath.tokenizer.files.TokenizerLoadException;
import dev.warmpath.tokenizer.train.BpeTrainer;
import dev.warmpath.tokenizer.train.TokenizerFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CancellationException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Completions prompts, in a model directory that the tests write themselves. */
class PromptTest {

  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final String TOKENIZER =
      TokenizerFile.of(BpeTrainer.train("a b ab abc abc abc", 260), List.of("<s>", "</s>"));

  private static final int BOS = body(TOKENIZER).path("added_tokens").get(0).path("id").intValue();
  private static final String ADDS_BOS = addingBos();

  private static ModelTokenizer tokenizer;

  /** For the tests that say more of the model than its tokenizer does. */
  @TempDir Path directory;

  @BeforeAll
  static void load(@TempDir Path model) throws IOException {
    Files.writeString(model.resolve("tokenizer.json"), TOKENIZER);
    tokenizer = ModelTokenizer.load(model);
  }

  @AfterAll
  static void close() {
    tokenizer.close();
  }

  @BeforeEach
  void write() throws IOException {
    write("tokenizer.json", TOKENIZER);
  }

  @Test
  void tokenIdsAreTakenAsTheyAre() {
    assertThat(tokens("{'prompt': [5, 0, 7]}").sequences()).containsExactly(new int[] {5, 0, 7});
  }

  @Test
  void severalPromptsAreSeveralSequences() {
    Tokens tokens = tokens("{'prompt': [[5], [6, 7]]}");
    assertThat(tokens.sequences()).containsExactly(new int[] {5}, new int[] {6, 7});
    assertThat(tokens.comparable()).isFalse();
  }

  @Test
  void aTextComesBackWithItsTokens() {
    Tokens tokens = tokens("{'prompt': 'abc <s>'}");
    assertThat(tokens.text()).isEqualTo("abc <s>");
    assertThat(tokens.sequences().get(0)).endsWith(tokenizer.encode("<s>", false));
    assertThat(tokenizer.decode(tokens.sequences().get(0))).isEqualTo("abc <s>");
  }

  @Test
  void severalTextsAreSeveralSequences() {
    assertThat(tokens("{'prompt': ['abc', 'b']}").sequences())
        .containsExactly(tokenizer.encode("abc", true), tokenizer.encode("b", true));
  }

  @ParameterizedTest
  @ValueSource(strings = {"[-1]", "[100000]", "[[1], [-2]]", "[5000000000]"})
  void aTokenThatTheModelDoesNotHaveIsNotGuessed(String prompt) {
    assertThat(inexact("{'prompt': " + prompt + "}")).isEqualTo(FallbackCause.TOKEN_OUT_OF_RANGE);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "{'prompt': null}",
        "{'prompt': []}",
        "{'prompt': ''}",
        "{'prompt': [[]]}",
        "{'prompt': ['a', 1]}",
        "{'prompt': [1, 'a']}",
        "{'prompt': [[1], 2]}",
        "{'prompt': [1.5]}",
        "{'prompt': {'a': 1}}",
        "{'prompt': 'a', 'echo': 'yes'}",
        "{'prompt': 'a', 'n': 1.5}",
        "{'prompt': 'a', 'truncate_prompt_tokens': 0}",
        "{'prompt': 'a', 'truncation_side': 'middle'}",
        "{'prompt': 'a', 'cache_salt': ''}",
        "{'prompt': 'a', 'cache_salt': 'a/b'}",
        "{'prompt': 'a', 'cache_salt': 7}"
      })
  void aRequestThatIsWrongIsNotGuessed(String body) {
    assertThat(inexact(body)).isEqualTo(FallbackCause.INVALID_REQUEST);
  }

  @Test
  void aSaltHasItsLimit() {
    String longest = "é".repeat(128);
    assertThat(tokens("{'prompt': 'a', 'cache_salt': '" + longest + "'}").keys())
        .isEqualTo(new PromptKeys(null, longest));
    assertThat(inexact("{'prompt': 'a', 'cache_salt': '" + longest + "a'}"))
        .isEqualTo(FallbackCause.INVALID_REQUEST);
  }

  @Test
  void theAdapterIsAmongTheKeys() {
    PromptResult result =
        tokenizer.prompt(RequestKind.COMPLETION, body("{'prompt': 'a'}"), "adapter");
    assertThat(((Tokens) result).keys()).isEqualTo(new PromptKeys("adapter", null));
  }

  @Test
  void halfASurrogatePairIsNotGuessed() {
    ObjectNode body = MAPPER.createObjectNode().put("prompt", "a\ud83d");
    PromptResult result = tokenizer.prompt(RequestKind.COMPLETION, body, null);
    assertThat(((Inexact) result).cause()).isEqualTo(FallbackCause.MALFORMED_TEXT);
  }

  @Test
  void aTextThatCannotBeCutIsRefusedOnceItIsTooLong() {
    String word = "a".repeat(512 << 10);
    assertThat(tokens("{'prompt': '" + word + "'}").totalTokens()).isPositive();
    assertThat(inexact("{'prompt': '" + word + "a'}")).isEqualTo(FallbackCause.UNCUTTABLE_TEXT);
    assertThat(inexact("{'prompt': ['a', '" + word + "a']}"))
        .isEqualTo(FallbackCause.UNCUTTABLE_TEXT);
    assertThat(FallbackCause.UNCUTTABLE_TEXT.label()).isEqualTo("uncuttable_text");
  }

  @Test
  void embeddingsAreNotGuessed() {
    assertThat(inexact("{'prompt_embeds': 'AAAA'}")).isEqualTo(FallbackCause.PROMPT_EMBEDS);
    assertThat(inexact("{'prompt': 'a', 'suffix': 'b'}")).isEqualTo(FallbackCause.INVALID_REQUEST);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{'prompt': [1]} | true",
        "{'prompt': [1], 'prompt_logprobs': null} | true",
        "{'prompt': [1], 'echo': true} | true",
        "{'prompt': [1], 'logprobs': 1} | true",
        "{'prompt': [1], 'echo': true, 'logprobs': 0} | false",
        "{'prompt': [1], 'prompt_logprobs': 0} | false",
        "{'prompt': [1], 'prompt_logprob_token_ids': [4]} | false"
      })
  void logProbabilitiesOfThePromptForbidReuse(String body, boolean readsCache) {
    assertThat(tokens(body).readsCache()).isEqualTo(readsCache);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{'prompt': [1]} | true",
        "{'prompt': [1], 'n': 1, 'best_of': 1} | true",
        "{'prompt': [1], 'n': 2} | false",
        "{'prompt': [1], 'best_of': 2} | false",
        "{'prompt': [1], 'use_beam_search': true} | false",
        "{'prompt': [1], 'kv_transfer_params': {'do_remote_prefill': true}} | false"
      })
  void theEnginesFigureIsComparableForOneSequenceOnly(String body, boolean comparable) {
    assertThat(tokens(body).comparable()).isEqualTo(comparable);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{'prompt': [1]} | true",
        "{'prompt': [1], 'kv_transfer_params': {'do_remote_prefill': true}} | true",
        "{'prompt': [1], 'kv_transfer_params': {'max_offload_tokens': 0}} | true",
        "{'prompt': [1], 'kv_transfer_params': {'max_load_tokens': null}} | true",
        "{'prompt': [1], 'kv_transfer_params': {'max_load_tokens': 0}} | false",
        "{'prompt': [1], 'kv_transfer_params': {'kv_load_tiers': ['cpu']}} | false"
      })
  void aRequestMayLimitWhatIsLoaded(String body, boolean readsSlowTiers) {
    assertThat(tokens(body).readsSlowTiers()).isEqualTo(readsSlowTiers);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {"2 | left | 3 4", "2 | right | 1 2", "4 | left | 1 2 3 4", "9 | right | 1 2 3 4"})
  void truncationKeepsOneEnd(int tokens, String side, String kept) {
    String body =
        "{'prompt': [1,2,3,4], 'truncate_prompt_tokens': %d, 'truncation_side': '%s'}"
            .formatted(tokens, side);
    assertThat(tokens(body).sequences().get(0))
        .containsExactly(List.of(kept.split(" ")).stream().mapToInt(Integer::parseInt).toArray());
  }

  @Test
  void truncationToTheEnginesLimitIsNotGuessed() {
    assertThat(inexact("{'prompt': [1], 'truncate_prompt_tokens': -1}"))
        .isEqualTo(FallbackCause.TRUNCATION);
  }

  /** For an answer without tokens vLLM 0.32 keeps as many as the model takes, 0.33 one less. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "[1,2,3]     | 9 | 1 2 3",
        "[1,2,3]     | 0 | 1 2 3",
        "[1,2,3,4]   | 9 | 2 3 4",
        "[1,2,3,4,5] |   | 3 4 5",
        "[1,2,3,4]   | 0 |",
        "[1,2,3,4,5] | 0 |",
      })
  void truncationToTheEnginesLimitIsExactWhereReleasesAgree(
      String prompt, String limit, String kept) throws IOException {
    write("tokenizer.json", ADDS_BOS);
    ModelOptions options = new ModelOptions(ChatOptions.defaults(), 4);
    try (ModelTokenizer limited = ModelTokenizer.load(directory, options)) {
      String more = limit == null ? "" : ", 'max_tokens': " + limit;
      ObjectNode body =
          body("{'prompt': %s, 'truncate_prompt_tokens': -1%s}".formatted(prompt, more));
      PromptResult result = limited.prompt(RequestKind.COMPLETION, body, null);
      if (kept == null) {
        assertThat(((Inexact) result).cause()).isEqualTo(FallbackCause.TRUNCATION);
      } else {
        assertThat(((Tokens) result).sequences().get(0))
            .containsExactly(
                List.of(kept.split(" ")).stream().mapToInt(Integer::parseInt).toArray());
      }
    }
  }

  @Test
  void thePostProcessorSaysWhatIsAdded() throws IOException {
    write("tokenizer.json", ADDS_BOS);
    write("tokenizer_config.json", "{'add_bos_token': false, 'add_eos_token': true}");
    try (ModelTokenizer adding = ModelTokenizer.load(directory)) {
      assertThat(adding.encode("abc", true)).startsWith(BOS).endsWith(plain("abc"));
      assertThat(adding.encode("abc", false)).containsExactly(plain("abc"));
      ObjectNode body = body("{'prompt': 'abc', 'truncate_prompt_tokens': 1}");
      assertThat(((Inexact) adding.prompt(RequestKind.COMPLETION, body, null)).cause())
          .isEqualTo(FallbackCause.TRUNCATION);
    }
  }

  /** As transformers 5.19 and SGLang 0.5.23 add or do not add a BOS. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "VLLM   | false | LlamaTokenizerFast      | true  | false",
        "VLLM   | false | PreTrainedTokenizerFast | true  | false",
        "VLLM   | true  | LlamaTokenizerFast      | false | true",
        "SGLANG | false | LlamaTokenizerFast      | true  | true",
        "SGLANG | false | LlamaTokenizerFast      |       | true",
        "SGLANG | false | LlamaTokenizerFast      | false | false",
        "SGLANG | true  | LlamaTokenizerFast      | false | true",
        "SGLANG | false | PreTrainedTokenizerFast | true  | false",
        "SGLANG | false | CohereTokenizer         | true  | false",
        "MIXED  | true  | LlamaTokenizerFast      | true  | true",
        "MIXED  | false | PreTrainedTokenizerFast | true  | false",
      })
  void theFlagForTheBosCountsForSomeClassesInSglang(
      Dialect dialect, boolean ofFile, String tokenizerClass, Boolean flag, boolean added)
      throws IOException {
    try (ModelTokenizer model = model(dialect, ofFile, tokenizerClass, flag)) {
      int[] ids = ((Tokens) completion(model, "{'prompt': 'abc'}")).sequences().get(0);
      assertThat(ids).hasSize(plain("abc").length + (added ? 1 : 0)).endsWith(plain("abc"));
      assertThat(ids[0] == BOS).isEqualTo(added);
    }
  }

  @Test
  void whatEnginesOfSeveralKindsAddDifferentlyIsNotGuessed() throws IOException {
    try (ModelTokenizer model = model(Dialect.MIXED, false, "LlamaTokenizerFast", true)) {
      assertThat(((Inexact) completion(model, "{'prompt': 'abc'}")).cause())
          .isEqualTo(FallbackCause.UNSUPPORTED_MODEL);
      assertThat(completion(model, "{'prompt': 'abc', 'add_special_tokens': false}"))
          .isInstanceOf(Tokens.class);
    }
  }

  @Test
  void tokensThatOnlyTheConfigurationHasAreNotGuessed() throws IOException {
    write("tokenizer_config.json", "{'added_tokens_decoder': {'300': {'content': '<new>'}}}");
    try (ModelTokenizer lacking = ModelTokenizer.load(directory)) {
      PromptResult with =
          lacking.prompt(RequestKind.COMPLETION, body("{'prompt': 'a <new> b'}"), null);
      assertThat(((Inexact) with).cause()).isEqualTo(FallbackCause.UNSUPPORTED_MODEL);
      assertThat(lacking.prompt(RequestKind.COMPLETION, body("{'prompt': 'a new b'}"), null))
          .isInstanceOf(Tokens.class);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {"tekken.json | {}", "tokenizer_config.json | {'split_special_tokens': true}"})
  void textsOfModelsThatTokenizeElsewhereAreNotGuessed(String file, String content)
      throws IOException {
    write(file, content);
    try (ModelTokenizer other = ModelTokenizer.load(directory)) {
      PromptResult text = other.prompt(RequestKind.COMPLETION, body("{'prompt': 'a'}"), null);
      assertThat(((Inexact) text).cause()).isEqualTo(FallbackCause.UNSUPPORTED_MODEL);
      assertThat(other.prompt(RequestKind.COMPLETION, body("{'prompt': [1]}"), null))
          .isInstanceOf(Tokens.class);
    }
  }

  @Test
  void theModelsVocabularyMayBeLargerThanTheTokenizers() throws IOException {
    String large = "{'prompt': [9999]}";
    assertThat(inexact(large)).isEqualTo(FallbackCause.TOKEN_OUT_OF_RANGE);
    write("config.json", "{'model_type': 'any', 'text_config': {'vocab_size': 10000}}");
    try (ModelTokenizer padded = ModelTokenizer.load(directory)) {
      assertThat(padded.prompt(RequestKind.COMPLETION, body(large), null))
          .isInstanceOf(Tokens.class);
    }
  }

  @Test
  void errorsNameTheFile() throws IOException {
    Path absent = directory.resolve("absent");
    assertThatThrownBy(() -> ModelTokenizer.load(absent))
        .isInstanceOf(TokenizerLoadException.class)
        .hasMessageStartingWith(absent.toString());
    Path broken = write("tokenizer.json", "{'model': ");
    assertThatThrownBy(() -> ModelTokenizer.load(directory))
        .isInstanceOf(TokenizerLoadException.class)
        .hasMessageStartingWith(broken + ": not readable as JSON");
    write("tokenizer.json", "{'version': '1.0'}");
    assertThatThrownBy(() -> ModelTokenizer.load(directory))
        .isInstanceOf(TokenizerLoadException.class)
        .hasMessageContaining(broken + ": not a usable tokenizer");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'additional_special_tokens': ['\\ud800']}",
        "{'add_bos_token': true, 'bos_token': '\\ud800'}",
      })
  void aConfigurationThatFailsLateLeavesNothingOpen(String config) throws IOException {
    write("tokenizer_config.json", config);
    int open = TextEncoder.open();
    assertThatThrownBy(() -> ModelTokenizer.load(directory))
        .isInstanceOf(TokenizerLoadException.class);
    assertThat(TextEncoder.open()).isEqualTo(open);
  }

  @Test
  void aLoadThatIsGivenUpLeavesNothingOpen() throws IOException {
    write("tokenizer_config.json", "{'chat_template': '" + "{{ a }}".repeat(30_000) + "'}");
    int open = TextEncoder.open();
    Thread.currentThread().interrupt();
    try {
      assertThatThrownBy(() -> ModelTokenizer.load(directory))
          .isInstanceOf(CancellationException.class);
    } finally {
      assertThat(Thread.interrupted()).isTrue();
    }
    assertThat(TextEncoder.open()).isEqualTo(open);
  }

  private ModelTokenizer model(
      Dialect dialect, boolean ofFile, String tokenizerClass, Boolean addsBos) throws IOException {
    write("tokenizer.json", ofFile ? ADDS_BOS : TOKENIZER);
    write(
        "tokenizer_config.json",
        "{'bos_token': '<s>', 'tokenizer_class': '%s', 'add_bos_token': %s}"
            .formatted(tokenizerClass, addsBos));
    return ModelTokenizer.load(
        directory, new ModelOptions(ChatOptions.defaults().with(dialect), ModelOptions.UNKNOWN));
  }

  private static PromptResult completion(ModelTokenizer model, String body) {
    return model.prompt(RequestKind.COMPLETION, body(body), null);
  }

  private static int[] plain(String text) {
    return tokenizer.encode(text, false);
  }

  /** The same tokenizer with a post-processor that puts the BOS before each text. */
  private static String addingBos() {
    ObjectNode file = body(TOKENIZER);
    String processor =
        "{'type': 'TemplateProcessing',"
            + " 'single': [{'SpecialToken': {'id': '<s>', 'type_id': 0}},"
            + " {'Sequence': {'id': 'A', 'type_id': 0}}],"
            + " 'pair': [{'Sequence': {'id': 'A', 'type_id': 0}},"
            + " {'Sequence': {'id': 'B', 'type_id': 1}}],"
            + " 'special_tokens': {'<s>': {'id': '<s>', 'ids': [%d], 'tokens': ['<s>']}}}";
    file.set("post_processor", body(processor.formatted(BOS)));
    return file.toString();
  }

  private Tokens tokens(String body) {
    PromptResult result = tokenizer.prompt(RequestKind.COMPLETION, body(body), null);
    assertThat(result).isInstanceOf(Tokens.class);
    return (Tokens) result;
  }

  private FallbackCause inexact(String body) {
    PromptResult result = tokenizer.prompt(RequestKind.COMPLETION, body(body), null);
    assertThat(result).isInstanceOf(Inexact.class);
    return ((Inexact) result).cause();
  }

  private Path write(String name, String content) throws IOException {
    return Files.writeString(directory.resolve(name), json(content));
  }

  private static ObjectNode body(String json) {
    try {
      return (ObjectNode) MAPPER.readTree(json(json));
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(e);
    }
  }

  /** Single quotes read better in Java; a tokenizer's own file has none of them to spare. */
  private static String json(String text) {
    return text.startsWith("{'") ? text.replace('\'', '"') : text;
  }
}
