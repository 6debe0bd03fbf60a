package dev.warmpath.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.ImageForm;
import dev.warmpath.kvindex.block.ImageForm.Algorithm;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.tokenizer.PromptResult.Inexact;
import dev.warmpath.tokenizer.PromptResult.Tokens;
import dev.warmpath.tokenizer.body.FallbackCause;
import dev.warmpath.tokenizer.chat.ChatOptions;
import dev.warmpath.tokenizer.chat.ChatOptions.Dialect;
import dev.warmpath.tokenizer.encode.EncodeGuard;
import dev.warmpath.tokenizer.image.ImageModel;
import dev.warmpath.tokenizer.image.ImageNaming;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Chats with images, for a model of the Qwen2-VL kind. */
class ImagePromptTest {

  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final ImageForm FORM = new ImageForm(true, Algorithm.BLAKE3, "/m");
  private static final ImageForm OTHER = new ImageForm(false, Algorithm.SHA256, "/m");
  private static final ImageNaming NAMING = new ImageNaming(List.of(FORM, OTHER), FORM);
  private static final ChainSpace SPACE = new ChainSpace("m", 4, 0);

  @TempDir static Path directory;

  private static ModelTokenizer tokenizer;
  private static int pad;

  @BeforeAll
  static void load() throws IOException {
    tokenizer = ModelTokenizer.load(ImageModel.write(directory));
    pad = tokenizer.encode("<|image_pad|>", false)[0];
  }

  @AfterAll
  static void unload() {
    tokenizer.close();
  }

  @Test
  void anImageStandsWhereTheTemplatePutsIt() {
    Tokens tokens = tokens(chat(text("Look: ") + ", " + image(56, 84) + ", " + text("What?")));
    int[] ids = tokens.sequences().get(0);
    assertThat(Arrays.stream(ids).filter(id -> id == pad).count()).isEqualTo(6);
    int first = tokens.keys().items().get(0).from();
    assertThat(tokenizer.decode(Arrays.copyOf(ids, first)))
        .isEqualTo("<|im_start|>user\nLook: <|vision_start|>");
    assertThat(tokenizer.decode(Arrays.copyOfRange(ids, first + 6, ids.length)))
        .isEqualTo("<|vision_end|>What?<|im_end|>\n<|im_start|>assistant\n");
    assertThat(tokens.keys().items().get(0).lengthTokens()).isEqualTo(6);
    assertThat(tokens.keys().items().get(0).identifier()).hasSize(64);
    assertThat(tokens.text()).isNull();
    assertThat(tokens.comparable()).isTrue();
  }

  @Test
  void blocksBeforeTheImageAreThoseOfTheText() {
    String before = "A text that is long enough for a few blocks stands before the image. ";
    Tokens one = tokens(chat(text(before) + ", " + image(56, 84)));
    Tokens other = tokens(chat(text(before) + ", " + image(56, 85)));
    Tokens again = tokens(chat(text(before) + ", " + image(56, 84) + ", " + text("And?")));
    int shared = chain(one).sharedBlocks(chain(other));
    assertThat(shared).isEqualTo(one.keys().items().get(0).from() / 4);
    int whole = one.keys().items().get(0).from() + 6;
    assertThat(chain(one).sharedBlocks(chain(again))).isGreaterThanOrEqualTo(whole / 4);
  }

  @Test
  void enginesNameItInWaysOfTheirOwn() {
    Tokens tokens = tokens(chat(image(56, 84)));
    PromptKeys framed = tokens.keys(FORM);
    PromptKeys bare = tokens.keys(OTHER);
    assertThat(framed).isEqualTo(tokens.keys()).isNotEqualTo(bare);
    assertThat(tokens.keys(null)).as("as usual").isEqualTo(framed);
    assertThat(tokens.keys(new ImageForm(true, Algorithm.SHA512, "/m"))).isNull();
    assertThat(tokens.images().names()).hasSize(2).containsValues(FORM, OTHER);
    Tokens open =
        (Tokens)
            tokenizer.prompt(
                RequestKind.CHAT,
                body(chat(image(56, 84))),
                null,
                new ImageNaming(List.of(FORM, OTHER), null));
    assertThat(open.keys(null)).as("nothing is usual").isNull();
  }

  @Test
  void theClientsNameIsTakenAsItIs() {
    String named = image(56, 84).replace("{'type'", "{'uuid': 'mine', 'type'");
    Tokens tokens = tokens(chat(named));
    assertThat(tokens.keys().items().get(0).identifier()).isEqualTo("mine");
    Tokens unnamed =
        (Tokens) tokenizer.prompt(RequestKind.CHAT, body(chat(named)), null, ImageNaming.UNKNOWN);
    assertThat(unnamed.keys(null)).isEqualTo(tokens.keys());
    assertThat(unnamed.images().names()).isEmpty();
  }

  @Test
  void otherRoutesHaveTheSameImages() {
    Tokens chat = tokens(chat(text("Look: ") + ", " + image(56, 84)));
    String data = url(56, 84).substring("data:image/png;base64,".length());
    String messages =
        "{'max_tokens': 5, 'messages': [{'role': 'user', 'content': ["
            + text("Look: ")
            + ", {'type': 'image', 'source': {'type': 'base64', 'media_type': 'image/png',"
            + " 'data': '"
            + data
            + "'}}]}]}";
    String responses =
        "{'input': [{'role': 'user', 'content': [{'type': 'input_text', 'text': 'Look: '},"
            + " {'type': 'input_image', 'image_url': '"
            + url(56, 84)
            + "'}]}]}";
    for (Tokens same :
        List.of(tokens(RequestKind.MESSAGES, messages), tokens(RequestKind.RESPONSES, responses))) {
      assertThat(same.sequences().get(0)).isEqualTo(chat.sequences().get(0));
      assertThat(same.keys()).isEqualTo(chat.keys());
    }
  }

  @Test
  void whatAToolShowsComesInAMessageBehindItsText() {
    String data = url(56, 84).substring("data:image/png;base64,".length());
    String messages =
        "{'max_tokens': 5, 'messages': [{'role': 'user', 'content': [{'type': 'tool_result',"
            + " 'tool_use_id': 't', 'content': [{'type': 'image', 'source': {'type': 'base64',"
            + " 'data': '"
            + data
            + "'}}, "
            + text("done")
            + "]}]}]}";
    Tokens tokens = tokens(RequestKind.MESSAGES, messages);
    int[] ids = tokens.sequences().get(0);
    assertThat(tokenizer.decode(Arrays.copyOf(ids, tokens.keys().items().get(0).from())))
        .isEqualTo("<|im_start|>tool\ndone<|im_end|>\n<|im_start|>user\n<|vision_start|>");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      value = {
        "{'type': 'image_url', 'image_url': {'url': 'http://a/b.png'}} ~ ''",
        "{'type': 'image_url', 'image_url': {'url': 'data:image/png;base64,AAAA'}} ~ ''",
        "{'type': 'image_url', 'image_url': {}} ~ ''",
        "{'type': 'image_url', 'image_url': null} ~ ''",
        "{'type': 'image_url', 'image_url': 'data:image/png;base64,AAAA'} ~ ''",
        "{'type': 'image_url', 'uuid': 'x', 'image_url': null} ~ ''",
        "{'type': 'video_url', 'video_url': {'url': 'data:video/mp4;base64,AAAA'}} ~ ''",
        "IMAGE, {'type': 'text', 'text': '<|image_pad|>'} ~ ''",
        "IMAGE ~ , 'mm_processor_kwargs': {'max_pixels': 5}",
        "IMAGE ~ , 'media_io_kwargs': {'image': {}}"
      })
  void whatIsNotCertainIsNotClaimed(String parts, String fields) {
    String chat = chat(parts.replace("IMAGE", image(56, 84)));
    String body = chat.substring(0, chat.length() - 1) + fields + "}";
    assertThat(refusal(body, NAMING)).isEqualTo(FallbackCause.MULTIMODAL);
  }

  @Test
  void withoutANameOrTrustNothingIsClaimed() throws IOException {
    assertThat(refusal(chat(image(56, 84)), ImageNaming.UNKNOWN))
        .isEqualTo(FallbackCause.MULTIMODAL);
    try (ModelTokenizer doubted = ModelTokenizer.load(directory)) {
      doubted.images().doubtRules();
      for (int i = 0; i < 3; i++) {
        assertThat(doubted.prompt(RequestKind.CHAT, body(chat(image(56, 84))), null, NAMING))
            .isInstanceOf(i < 2 ? Inexact.class : Tokens.class);
      }
    }
  }

  @Test
  void whatTheEngineRefusesAsTooLongIsNotExpandedIntoBlocks() {
    ModelOptions plain = ModelOptions.defaults();
    String body = chat(image(56, 84));
    int count = tokens(body).sequences().get(0).length;
    for (int most : new int[] {count - 1, count}) {
      try (ModelTokenizer bounded =
          ModelTokenizer.load(directory, new ModelOptions(plain.chat(), most, plain.budget()))) {
        Class<?> expected = most < count ? Inexact.class : Tokens.class;
        assertThat(bounded.prompt(RequestKind.CHAT, body(body), null, NAMING))
            .isInstanceOf(expected);
      }
    }
  }

  @Test
  void anEventLoopLeavesImagesToOthers() {
    EncodeGuard noImages =
        new EncodeGuard() {
          @Override
          public void beforeImages() {
            throw new TooMuchException();
          }
        };
    ObjectNode body = body(chat(image(56, 84)));
    assertThatThrownBy(() -> tokenizer.prompt(RequestKind.CHAT, body, null, () -> NAMING, noImages))
        .isInstanceOf(EncodeGuard.TooMuchException.class);
  }

  /** Its ids stand for an image, as an SGLang engine showed them. */
  @Test
  void anSglangsImageIsItsIds() {
    try (ModelTokenizer sglang = ModelTokenizer.load(directory, options(Dialect.SGLANG))) {
      String chat = chat(text("Look: ") + ", " + image(56, 84) + ", " + text("What?"));
      String named = chat.replace("{'type': 'image_url'", "{'uuid': 'mine', 'type': 'image_url'");
      for (String body : List.of(chat, named)) {
        assertThat(prompt(sglang, body).images().images().get(0))
            .satisfies(image -> assertThat(image.uuid()).isNull())
            .satisfies(image -> assertThat(image.lengthTokens()).isZero())
            .satisfies(image -> assertThat(image.pad()).isNegative())
            .satisfies(image -> assertThat(image.isSure()).isFalse());
      }
      prompt(sglang, named).images().images().get(0).shown("pad:-5", new int[] {-5, -5, -5});
      Tokens known = (Tokens) prompt(sglang, chat);
      int[] ids = known.sequences().get(0);
      int from = known.keys().items().get(0).from();
      assertThat(known.keys().items())
          .containsExactly(new PromptKeys.Item("pad:-5", from, 3, true));
      assertThat(Arrays.copyOfRange(ids, from, from + 3)).containsOnly(-5);
      assertThat(sglang.decode(Arrays.copyOfRange(ids, from + 3, ids.length)))
          .isEqualTo("<|vision_end|>What?<|im_end|>\n<|im_start|>assistant\n");
      assertThat(known.keys(null)).isEqualTo(known.keys());
      assertThat(chain(known).sharedBlocks(known.chain(SPACE, PromptKeys.NONE)))
          .as("no keys")
          .isEqualTo(chain(known).blocks())
          .isGreaterThan(from / 4);
      assertThat(known.images().isByRules()).isFalse();
      assertThat(known.images().names()).isEmpty();
      assertInexact(sglang, chat, "'extra_key': 'x'", FallbackCause.HIDDEN_NAMESPACE);
      assertInexact(sglang, chat, "'images_config': {}", FallbackCause.MULTIMODAL);
      assertInexact(sglang, chat, "'max_dynamic_patch': 2", FallbackCause.MULTIMODAL);
      assertThat(prompt(sglang, chat)).as("nothing of that is doubted").isInstanceOf(Tokens.class);
    }
  }

  private static void assertInexact(
      ModelTokenizer tokenizer, String chat, String field, FallbackCause cause) {
    PromptResult result =
        prompt(tokenizer, chat.substring(0, chat.length() - 1) + ", " + field + "}");
    assertThat(result).isInstanceOf(Inexact.class);
    assertThat(((Inexact) result).cause()).isEqualTo(cause);
    assertThat(result.images()).as("others must not learn what is its").isNotNull();
  }

  @Test
  void whereEnginesOfSeveralKindsServeAModelNothingIsLearned() {
    try (ModelTokenizer mixed = ModelTokenizer.load(directory, options(Dialect.MIXED))) {
      PromptResult result = prompt(mixed, chat(image(56, 84)));
      assertThat(((Inexact) result).cause()).isEqualTo(FallbackCause.UNSUPPORTED_MODEL);
      assertThat(result.images()).isNull();
      assertThat(mixed.images().arePlaceable()).isFalse();
    }
  }

  private static ModelOptions options(Dialect dialect) {
    return new ModelOptions(ChatOptions.defaults().with(dialect), ModelOptions.UNKNOWN);
  }

  private static PromptResult prompt(ModelTokenizer tokenizer, String body) {
    return tokenizer.prompt(RequestKind.CHAT, body(body), null, NAMING);
  }

  private static BlockChain chain(Tokens tokens) {
    return tokens.chain(SPACE, tokens.keys());
  }

  private static Tokens tokens(String chat) {
    return tokens(RequestKind.CHAT, chat);
  }

  private static Tokens tokens(RequestKind kind, String body) {
    PromptResult result = tokenizer.prompt(kind, body(body), null, NAMING);
    assertThat(result).isInstanceOf(Tokens.class);
    return (Tokens) result;
  }

  private static FallbackCause refusal(String body, ImageNaming naming) {
    PromptResult result = tokenizer.prompt(RequestKind.CHAT, body(body), null, naming);
    assertThat(result).isInstanceOf(Inexact.class);
    return ((Inexact) result).cause();
  }

  private static String chat(String parts) {
    return "{'messages': [{'role': 'user', 'content': [" + parts + "]}]}";
  }

  private static String text(String text) {
    return "{'type': 'text', 'text': '" + text + "'}";
  }

  private static String image(int width, int height) {
    return "{'type': 'image_url', 'image_url': {'url': '" + url(width, height) + "'}}";
  }

  private static String url(int width, int height) {
    ByteArrayOutputStream file = new ByteArrayOutputStream();
    try {
      BufferedImage image = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
      assertThat(ImageIO.write(image, "png", file)).isTrue();
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
    return "data:image/png;base64," + Base64.getEncoder().encodeToString(file.toByteArray());
  }

  private static ObjectNode body(String json) {
    try {
      return (ObjectNode) MAPPER.readTree(json.replace('\'', '"'));
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(e);
    }
  }
}
