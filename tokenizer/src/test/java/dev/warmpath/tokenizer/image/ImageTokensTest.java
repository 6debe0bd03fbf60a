package dev.warmpath.tokenizer.image;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.tokenizer.image.ImageTokens.Expanded;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How many tokens stand for an image; numbers without a derivation are transformers 5.19's. */
class ImageTokensTest {

  private static final ObjectMapper MAPPER = new ObjectMapper();
  static final int PAD = 9;

  static final String QWEN2 =
      "{'image_processor_type': 'Qwen2VLImageProcessor', 'min_pixels': 3136,"
          + " 'max_pixels': 12845056, 'patch_size': 14, 'merge_size': 2}";
  private static final String QWEN3 =
      "{'image_processor_type': 'Qwen2VLImageProcessorFast', 'patch_size': 16, 'merge_size': 2,"
          + " 'size': {'shortest_edge': 65536, 'longest_edge': 16777216}}";

  @ParameterizedTest
  @CsvSource({"28,28,4", "56,56,4", "1000,28,36", "1092,756,1053", "14,14,4", "8000,6000,16170"})
  void qwen2Counts(int width, int height, int count) {
    assertThat(count(qwen(QWEN2), width, height)).isEqualTo(count);
    assertThat(count(qwen(QWEN2), height, width)).isEqualTo(count);
  }

  @ParameterizedTest
  @CsvSource({"32,32,64", "256,256,64", "640,480,300", "336,336,100", "304,304,100"})
  void qwen3Counts(int width, int height, int count) {
    assertThat(count(qwen(QWEN3), width, height)).isEqualTo(count);
  }

  @Test
  void qwenRefusesStripes() {
    assertThat(qwen(QWEN2).run(image(2010, 10))).isNull();
    assertThat(qwen(QWEN2).run(image(2000, 10))).isNotNull();
  }

  @Test
  void qwenStaysWithinItsPixels() {
    SplittableRandom random = new SplittableRandom(3);
    for (int i = 0; i < 10_000; i++) {
      int width = 1 + random.nextInt(6000);
      int height = Math.max(1, width / 100) + random.nextInt(6000);
      if (height > 150 * width) {
        continue;
      }
      int pixels = count(qwen(QWEN3), width, height) * 32 * 32;
      assertThat(pixels).isBetween(65_536, 16_777_216);
    }
  }

  @Test
  void placeholdersStandWhereTheTextHasTheImages() {
    int[] ids = {1, PAD, 2, 3, PAD, PAD};
    List<ImageHeader> images = List.of(image(56, 56), image(28, 112), image(56, 84));
    Expanded expanded = Objects.requireNonNull(expand(qwen(QWEN2), ids, images));
    assertThat(expanded.from()).containsExactly(1, 7, 11);
    assertThat(expanded.lengths()).containsExactly(4, 4, 6);
    assertThat(expanded.ids()).hasSize(3 + 4 + 4 + 6);
    assertThat(expanded.ids()[5]).isEqualTo(2);
    assertThat(expand(qwen(QWEN2), ids, images.subList(0, 2))).as("a place too many").isNull();
    assertThat(expand(qwen(QWEN2), new int[] {1}, images)).as("no place").isNull();
  }

  @Test
  void gemmasLineBreaksJoinTheTexts() {
    ImageTokens gemma = gemma("{'image_processor_type': 'Gemma3ImageProcessor'}");
    int begin = 20;
    // one, two, three and four line breaks are 11 to 14
    Expanded one = Objects.requireNonNull(expand(gemma, new int[] {1, 11, begin, 5}, images(1)));
    assertThat(Arrays.copyOf(one.ids(), 5)).containsExactly(1, 13, begin, 21, 21);
    assertThat(one.from()).containsExactly(1);
    assertThat(one.lengths()).containsExactly(260);
    assertThat(one.ids()).hasSize(262).endsWith(21, 22, 12, 5);
    Expanded two = Objects.requireNonNull(expand(gemma, new int[] {begin, begin}, images(2)));
    assertThat(two.ids()).hasSize(519);
    assertThat(two.ids()[259]).isEqualTo(14);
    assertThat(two.from()).containsExactly(0, 259);
  }

  @Test
  void gemmasImagesStandWhereTheyBeginWhateverStandsForThem() {
    ImageTokens gemma = gemma("{'image_processor_type': 'Gemma3ImageProcessor'}");
    int begin = 20;
    int[] cropped = {7, 12, begin, 21, 22, 12, 8, begin, 21, 22, 12};
    List<int @Nullable []> runs = new ArrayList<>(Arrays.asList(cropped, null));
    int[] ids = {1, begin, 5, begin, 6};
    Expanded expanded = Objects.requireNonNull(gemma.expand(ids, runs));
    assertThat(expanded.from()).containsExactly(1, 13);
    assertThat(expanded.ids()[13]).isEqualTo(begin);
    assertThat(expanded.lengths()).containsExactly(11, 0);
    List<int @Nullable []> others = new ArrayList<>(Arrays.asList(new int[] {7, 7}, new int[] {7}));
    assertThat(gemma.expand(ids, others)).as("nothing begins an image").isNull();
  }

  @ParameterizedTest
  @CsvSource({
    "336,336,1,1",
    "100,100,1,1",
    "672,336,1,2",
    "336,672,2,1",
    "1000,300,1,3",
    "5000,5000,4,4",
    "2000,100,1,6",
    "700,700,3,3",
    "337,336,1,2"
  })
  void llamasTiles(int width, int height, int rows, int columns) {
    int tiles = rows * columns;
    int expected = tiles == 1 ? 147 : 147 + tiles * 145;
    Expanded expanded =
        Objects.requireNonNull(expand(llama(), new int[] {30}, List.of(image(width, height))));
    assertThat(expanded.ids()).hasSize(expected).startsWith(31).endsWith(33, 32);
    assertThat(Arrays.stream(expanded.ids()).filter(id -> id == 35).count())
        .isEqualTo(tiles == 1 ? 0 : rows);
    assertThat(expanded.lengths()).containsExactly(expected);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "{'do_resize': false, 'patch_size': 14}",
        "{'image_processor_type': 'OtherImageProcessor', 'patch_size': 14}",
        "{'patch_size': 14, 'size': {'shortest_edge': 100, 'longest_edge': 10}}"
      })
  void otherProcessorsAreNotKnown(String options) {
    assertThat(tokens("Qwen2VLForConditionalGeneration", options, Map.of("<|image_pad|>", PAD)))
        .isNull();
  }

  @Test
  void otherModelsAreNotKnown() {
    assertThat(tokens("LlavaForConditionalGeneration", QWEN2, Map.of("<|image_pad|>", PAD)))
        .isNull();
    assertThat(tokens("Qwen2VLForConditionalGeneration", QWEN2, Map.of())).isNull();
    assertThat(
            ImageTokens.of(
                json("{'architectures': ['Qwen2VLForConditionalGeneration']}"),
                json(QWEN2),
                json("{'image_processor': " + QWEN3 + "}"),
                token -> PAD))
        .as("two files that differ")
        .isNull();
  }

  private static int count(ImageTokens tokens, int width, int height) {
    return Objects.requireNonNull(expand(tokens, new int[] {PAD}, List.of(image(width, height))))
        .lengths()[0];
  }

  private static @Nullable Expanded expand(
      ImageTokens tokens, int[] ids, List<ImageHeader> images) {
    return tokens.expand(ids, images.stream().map(tokens::run).toList());
  }

  private static ImageHeader image(int width, int height) {
    return new ImageHeader(width, height, true);
  }

  private static List<ImageHeader> images(int count) {
    List<ImageHeader> images = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      images.add(image(100, 100));
    }
    return images;
  }

  static ImageTokens qwen(String options) {
    return Objects.requireNonNull(
        tokens("Qwen2VLForConditionalGeneration", options, Map.of("<|image_pad|>", PAD)));
  }

  static ImageTokens gemma(String options) {
    Map<String, Integer> ids = new HashMap<>();
    ids.put("<start_of_image>", 20);
    ids.put("<image_soft_token>", 21);
    ids.put("<end_of_image>", 22);
    for (int i = 1; i <= 4; i++) {
      ids.put("\n".repeat(i), 10 + i);
    }
    return Objects.requireNonNull(tokens("Gemma3ForConditionalGeneration", options, ids));
  }

  private static ImageTokens llama() {
    Map<String, Integer> ids = new HashMap<>();
    ids.put("<|image|>", 30);
    ids.put("<|image_start|>", 31);
    ids.put("<|image_end|>", 32);
    ids.put("<|patch|>", 33);
    ids.put("<|tile_x_separator|>", 34);
    ids.put("<|tile_y_separator|>", 35);
    return Objects.requireNonNull(
        tokens("Llama4ForConditionalGeneration", "{'max_patches': 16}", ids));
  }

  private static ImageTokens tokens(String architecture, String options, Map<String, Integer> ids) {
    return ImageTokens.of(
        json("{'architectures': ['" + architecture + "']}"),
        json(options),
        json("{}"),
        token -> ids.getOrDefault(token, -1));
  }

  private static ObjectNode json(String text) {
    try {
      return (ObjectNode) MAPPER.readTree(text.replace('\'', '"'));
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(e);
    }
  }
}
