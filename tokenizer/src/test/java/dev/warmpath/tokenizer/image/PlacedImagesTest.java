package dev.warmpath.tokenizer.image;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.TextNode;
import dev.warmpath.kvindex.block.ImageForm;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.tokenizer.body.InexactPromptException;
import dev.warmpath.tokenizer.image.LearnedImages.Lesson;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;

/** Chats with images behind URLs: placed, sent, and judged by what engines report. */
class PlacedImagesTest {

  private static final int PAD = ImageTokensTest.PAD;
  private static final int BLOCK = 16;

  private final ImageMemory memory = new ImageMemory(1 << 20, 1);
  private final LearnedImages learned = new LearnedImages(1 << 20);
  private final PromptImages qwen =
      new PromptImages(ImageTokensTest.qwen(ImageTokensTest.QWEN2), false, memory, learned);

  private static PlacedImages place(PromptImages images, int[] ids, String... urls) {
    ImageParts parts = images.parts();
    for (String url : urls) {
      parts.add(TextNode.valueOf(url), null);
    }
    return images.place(ids, parts, PromptKeys.NONE, ImageNaming.UNKNOWN, 1 << 20, true);
  }

  private static int[] run(int length) {
    int[] run = new int[length];
    Arrays.fill(run, PAD);
    return run;
  }

  /** Twenty tokens of text, an image of 40, ten of text, an image of 40, text. */
  private PlacedImages known() {
    int[] ids = new int[50];
    ids[20] = PAD;
    ids[31] = PAD;
    PlacedImages first = place(qwen, ids, "http://a/1", "http://a/2");
    first.images().get(0).shown("one", run(40));
    first.images().get(1).shown("two", run(40));
    PlacedImages known = place(qwen, ids, "http://a/1", "http://a/2");
    assertThat(known.areKnown()).isTrue();
    assertThat(known.firstKeys(null).items())
        .containsExactly(new PromptKeys.Item("one", 20, 40), new PromptKeys.Item("two", 70, 40));
    return known;
  }

  private long count(Lesson lesson) {
    return Objects.requireNonNull(learned.lessons().get(lesson));
  }

  @Test
  void whatIsFoundIsConfirmed() {
    known().judge(112, 112, BLOCK);
    assertThat(count(Lesson.CONFIRMED)).isEqualTo(2);
    known().judge(112, 128, BLOCK);
    assertThat(count(Lesson.CONFIRMED)).isEqualTo(4);
    assertThat(count(Lesson.DOUBTED)).isZero();
  }

  @Test
  void onlyTheFirstThatWasNotFoundIsDoubted() {
    known().judge(112, 16, BLOCK);
    assertThat(count(Lesson.DOUBTED)).isEqualTo(1);
    assertThat(count(Lesson.CONFIRMED)).isZero();
  }

  @Test
  void whatStandsBeforeIsConfirmed() {
    known().judge(112, 64, BLOCK);
    assertThat(count(Lesson.CONFIRMED)).isEqualTo(1);
    assertThat(count(Lesson.DOUBTED)).isEqualTo(1);
  }

  @Test
  void ofWhatWasNotExpectedNothingIsSaid() {
    known().judge(16, 0, BLOCK);
    known().judge(112, 0, BLOCK);
    assertThat(count(Lesson.DOUBTED)).as("what stands before it was lost").isZero();
    known().judge(32, 32, BLOCK);
    assertThat(count(Lesson.CONFIRMED)).as("as far as it was expected").isEqualTo(1);
  }

  @Test
  void aShortHitThatEndsAtAnImageIsTheImages() {
    PlacedImages chat = known();
    assertThat(chat.mayExplain(112, 16, BLOCK)).isTrue();
    assertThat(chat.mayExplain(112, 48, BLOCK)).isTrue();
    assertThat(chat.mayExplain(112, 64, BLOCK)).as("the next begins in this block").isTrue();
    assertThat(chat.mayExplain(112, 0, BLOCK)).as("before the image").isFalse();
    assertThat(chat.mayExplain(112, 112, BLOCK)).isFalse();
    assertThat(chat.mayExplain(16, 0, BLOCK)).isFalse();
  }

  @Test
  void anImageThatStandsTwiceIsOneTime() {
    int[] ids = new int[50];
    ids[20] = PAD;
    ids[31] = PAD;
    place(qwen, ids, "http://a/1", "http://a/1").images().get(0).shown("one", run(40));
    place(qwen, ids, "http://a/1", "http://a/1").judge(112, 16, BLOCK);
    place(qwen, ids, "http://a/1", "http://a/1").images().get(0).shown("one", run(40));
    assertThat(place(qwen, ids, "http://a/1", "http://a/1").areKnown()).isFalse();
    assertThat(place(qwen, ids, "http://a/1", "http://a/1").areKnown())
        .as("after two chats, not two images")
        .isTrue();
  }

  @Test
  void rulesThatCountOtherwiseAreLeftOutAndThenTriedAgain() {
    PromptImages gemma =
        new PromptImages(
            ImageTokensTest.gemma("{'image_processor_type': 'Gemma3ImageProcessor'}"),
            false,
            memory,
            learned);
    int[] ids = {1, 20, 5};
    String url = "http://a/1";
    assertThat(place(gemma, ids, url).images().get(0).lengthTokens()).isEqualTo(260);
    assertThat(gemma.doubtRules()).isTrue();
    assertThat(gemma.doubtRules()).as("one that was under way, too").isFalse();
    for (int i = 0; i < 2; i++) {
      PromptImage image = place(gemma, ids, url).images().get(0);
      assertThat(image.lengthTokens()).isZero();
      assertThat(image.isSure()).isFalse();
    }
    PromptImage image = place(gemma, ids, url).images().get(0);
    assertThat(image.lengthTokens()).as("tried again").isEqualTo(260);
    assertThat(gemma.doubtRules()).isTrue();
    image = place(gemma, ids, url).images().get(0);
    image.shown("id", new int[] {7, 12, 20, 21, 22, 12});
    PlacedImages believed = place(gemma, ids, url);
    assertThat(believed.isByRules()).isFalse();
    image = believed.images().get(0);
    assertThat(image.lengthTokens()).as("what an engine showed").isEqualTo(6);
    assertThat(image.isBelieved()).isTrue();
    place(gemma, ids, url);
    place(gemma, ids, url);
    PlacedImages again = place(gemma, ids, url);
    assertThat(again.images().get(0).lengthTokens()).as("tried again").isEqualTo(260);
    assertThat(again.isByRules()).as("whatever is believed of the image").isTrue();
  }

  @Test
  void aBeliefThatMakesAChatTooLongIsDoubted() {
    int[] ids = {1, PAD, 2};
    place(qwen, ids, "http://a/1").images().get(0).shown("one", run(2_000_000));
    Assertions.assertThatThrownBy(() -> place(qwen, ids, "http://a/1"))
        .isInstanceOf(InexactPromptException.class);
    assertThat(count(Lesson.DOUBTED)).isEqualTo(1);
    assertThat(place(qwen, ids, "http://a/1").areKnown()).isFalse();
  }

  @Test
  void whatAnEngineShowedGoesBeforeTheFormThatIsNotItsOwn() {
    ImageForm usual = new ImageForm(true, ImageForm.Algorithm.BLAKE3, "m");
    LearnedImages.Image image = learned.image(memory.key("data:", null));
    Map<ImageForm, String> names = Map.of(usual, "computed");
    PromptImage before = new PromptImage(0, 4, PAD, null, names, false, image);
    assertThat(before.identifier(null, usual)).isEqualTo("computed");
    before.shown("its own", run(4));
    LearnedImages.Image shown = learned.image(memory.key("data:", null));
    PromptImage after = new PromptImage(0, 4, PAD, null, names, false, shown);
    assertThat(after.identifier(null, usual)).isEqualTo("its own");
    assertThat(after.identifier(usual, null)).as("an engine of that form").isEqualTo("computed");
    PromptImage named = new PromptImage(0, 4, PAD, "uuid", names, false, shown);
    assertThat(named.identifier(null, usual)).isEqualTo("uuid");
  }

  @Test
  void aNameWithoutEndIsRefused() {
    ImageParts parts = qwen.parts();
    TextNode url = TextNode.valueOf("http://a/1");
    parts.add(url, "u".repeat(1024));
    Assertions.assertThatThrownBy(() -> parts.add(url, "u".repeat(1025)))
        .isInstanceOf(InexactPromptException.class)
        .hasMessageContaining("uuid of more than 1024 characters");
  }
}
