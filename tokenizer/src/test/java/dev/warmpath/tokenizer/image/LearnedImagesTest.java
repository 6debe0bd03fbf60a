package dev.warmpath.tokenizer.image;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.tokenizer.image.LearnedImages.Image;
import dev.warmpath.tokenizer.image.LearnedImages.Lesson;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class LearnedImagesTest {

  private static final int[] RUN = {7, 9, 9, 9, 8};

  private final ImageMemory memory = new ImageMemory(1 << 20, 1);
  private final LearnedImages learned = new LearnedImages(1 << 20);

  /** The image as the next chat has it. */
  private Image chat(String url) {
    return learned.image(memory.key(url, null));
  }

  private @Nullable String believed(String url) {
    LearnedImages.Belief belief = chat(url).belief();
    return belief == null ? null : belief.identifier();
  }

  private long count(Lesson lesson) {
    return Objects.requireNonNull(learned.lessons().get(lesson));
  }

  @Test
  void whatAnEngineShowedIsBelievedFromThenOn() {
    assertThat(chat("http://a/1").belief()).isNull();
    chat("http://a/1").learned("id", RUN);
    LearnedImages.Belief belief = Objects.requireNonNull(chat("http://a/1").belief());
    assertThat(belief.identifier()).isEqualTo("id");
    assertThat(belief.run()).isEqualTo(RUN);
    assertThat(chat("http://a/2").belief()).isNull();
    assertThat(learned.image(memory.key("http://a/1", "lora")).belief()).isNull();
  }

  @Test
  void whatIsWrongAgainAndAgainIsLeftOutEverMoreOften() {
    for (int left : new int[] {2, 4, 8, 16}) {
      chat("u").learned("id", RUN);
      Image wrong = chat("u");
      assertThat(wrong.belief()).as("left out=" + left).isNotNull();
      wrong.doubt();
      chat("u").learned("id", RUN);
      for (int i = 1; i < left; i++) {
        assertThat(believed("u")).as(i + " of " + left).isNull();
      }
    }
    assertThat(count(Lesson.DOUBTED)).isEqualTo(4);
  }

  @Test
  void chatsThatWereUnderWayTogetherSayOneThing() {
    chat("u").learned("id", RUN);
    Image[] together = {chat("u"), chat("u"), chat("u"), chat("u")};
    for (Image image : together) {
      image.doubt();
    }
    assertThat(count(Lesson.DOUBTED)).isEqualTo(1);
    chat("u").learned("id", RUN);
    Arrays.stream(together).forEach(Image::doubt);
    assertThat(believed("u")).as("the second of two that are left out").isNull();
    assertThat(believed("u")).isEqualTo("id");
  }

  @Test
  void whatIsRightAgainIsDoubtedLess() {
    chat("u").learned("id", RUN);
    chat("u").doubt();
    chat("u").learned("id", RUN);
    assertThat(believed("u")).isNull();
    chat("u").confirm();
    chat("u").doubt();
    chat("u").learned("id", RUN);
    assertThat(believed("u")).isNull();
    assertThat(believed("u")).as("two are left out as at first, not four").isEqualTo("id");
  }

  @Test
  void anotherImageBehindTheUrlTakesThePlace() {
    chat("u").learned("one", RUN);
    chat("u").learned("other", RUN);
    assertThat(count(Lesson.CONTRADICTED)).isEqualTo(1);
    assertThat(believed("u")).isNull();
    assertThat(believed("u")).isNull();
    assertThat(believed("u")).isEqualTo("other");
  }

  @Test
  void whatMayHaveBeenAnothersIsWithdrawn() {
    Image image = chat("u");
    image.learned("id", RUN);
    image.withdraw("something else");
    assertThat(believed("u")).isEqualTo("id");
    image.withdraw("id");
    assertThat(believed("u")).isNull();
    assertThat(count(Lesson.CONTRADICTED)).isEqualTo(1);
  }

  @Test
  void whatWasUsedLongestAgoMakesRoom() {
    LearnedImages small = new LearnedImages(1_500);
    for (String url : new String[] {"a", "b", "c", "a", "d"}) {
      small.image(memory.key(url, null)).learned("id", RUN);
    }
    assertThat(small.counts().bytes()).isLessThanOrEqualTo(1_500);
    assertThat(small.counts().evictions()).isEqualTo(1);
    assertThat(small.image(memory.key("a", null)).belief()).isNotNull();
    assertThat(small.image(memory.key("b", null)).belief()).isNull();
    small.image(memory.key("e", null)).learned("i".repeat(2_000), RUN);
    assertThat(small.image(memory.key("d", null)).belief()).as("pushed out").isNotNull();
    small.resize(0);
    assertThat(small.counts().bytes()).isZero();
  }

  @Test
  void nothingIsLearnedOfAStranger() {
    Image stranger = learned.stranger();
    stranger.learned("id", RUN);
    assertThat(learned.counts().bytes()).isZero();
    assertThat(stranger).isNotEqualTo(learned.stranger());
    assertThat(chat("u")).isEqualTo(chat("u"));
  }
}
