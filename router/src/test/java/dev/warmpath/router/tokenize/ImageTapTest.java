package dev.warmpath.router.tokenize;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.warmpath.eventingest.EngineView;
import dev.warmpath.eventingest.SlowTierReuse;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.CacheLayout;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.ImageForm;
import dev.warmpath.kvindex.block.ImageForm.Algorithm;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.kvindex.runs.RunKvIndex;
import dev.warmpath.router.dispatch.Assignment;
import dev.warmpath.router.dispatch.DispatchListener;
import dev.warmpath.router.dispatch.Dispatcher;
import dev.warmpath.router.dispatch.PreparedRequest;
import dev.warmpath.router.dispatch.Prompt;
import dev.warmpath.router.fleet.EngineEvents;
import dev.warmpath.router.fleet.ExpectedBlocks;
import dev.warmpath.router.fleet.Fleet;
import dev.warmpath.router.fleet.Outcome;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.metrics.Metrics;
import dev.warmpath.router.routing.Policies;
import dev.warmpath.tokenizer.PromptResult;
import dev.warmpath.tokenizer.body.FallbackCause;
import dev.warmpath.tokenizer.image.ImageMemory;
import dev.warmpath.tokenizer.image.ImageNaming;
import dev.warmpath.tokenizer.image.ImageParts;
import dev.warmpath.tokenizer.image.ImageTokens;
import dev.warmpath.tokenizer.image.LearnedImages;
import dev.warmpath.tokenizer.image.LearnedImages.Lesson;
import dev.warmpath.tokenizer.image.PlacedImages;
import dev.warmpath.tokenizer.image.PromptImages;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import javax.imageio.ImageIO;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What is told of chats with images, from their dispatch to their end. */
class ImageTapTest {

  private static final int PAD = 7;
  private static final ImageForm FORM = new ImageForm(true, Algorithm.BLAKE3, "/m");
  private static final ChainSpace SPACE = new ChainSpace("m", 16, 0);
  private static final String URL = "http://images/1";

  private final List<String> told = new ArrayList<>();
  private final Set<Object> unread = new HashSet<>();
  private final LearnedImages learned = new LearnedImages(1 << 20);
  private final PromptImages images =
      new PromptImages(qwen(), false, new ImageMemory(1 << 20, 1), learned);
  private final Fleet fleet = new Fleet();
  private final RunKvIndex index = new RunKvIndex(IndexLimits.unbounded(1000));
  private final int slot = index.addEngine(CopyCounting.PER_COPY);
  private boolean isBroken;
  private final Dispatcher dispatcher = dispatcher();

  private static ImageTokens qwen() {
    ObjectMapper json = new ObjectMapper();
    ObjectNode model = json.createObjectNode();
    model.putArray("architectures").add("Qwen2VLForConditionalGeneration");
    ObjectNode processor = json.createObjectNode();
    processor.put("image_processor_type", "Qwen2VLImageProcessor").put("patch_size", 14);
    return Objects.requireNonNull(
        ImageTokens.of(model, processor, json.createObjectNode(), token -> PAD));
  }

  private Dispatcher dispatcher() {
    index.layout(
        slot,
        new CacheLayout(List.of(new CacheGroup(0, CacheGroup.Kind.FULL_ATTENTION, 16, 0)), 1, 0));
    Replica replica = new Replica("r", URI.create("http://r"), Set.of("m"), 1);
    replica.health(Replica.Health.UP);
    fleet.add(replica);
    EngineEvents events =
        new EngineEvents() {
          @Override
          public EngineView view(Replica one, int dpRank) {
            return new EngineView(slot, SPACE, Trust.EXACT, SlowTierReuse.ALL, null, FORM);
          }

          @Override
          public void sendingImages(Replica one, int dpRank, PlacedImages chat) {
            told.add("sending " + chat.images().size());
          }

          @Override
          public void sendingUnread(Replica one, int dpRank, Object request) {
            told.add("sending unread");
            assertThat(unread.add(request)).as("another request").isTrue();
          }

          @Override
          public void endedImages(Replica one, int dpRank, Object request, boolean foundAll) {
            told.add(foundAll ? "found" : "ended");
            unread.remove(request);
          }
        };
    DispatchListener last =
        new DispatchListener() {
          @Override
          public void assigned(PreparedRequest request, Assignment assignment) {
            if (isBroken) {
              throw new IllegalStateException("broken");
            }
          }
        };
    return new Dispatcher(
        fleet,
        index,
        events,
        Policies.named("least-requests", Map.of()),
        new Dispatcher.Limits(ExpectedBlocks.Limits.DEFAULT, 100, 100),
        new Dispatcher.Environment(
            () -> 0,
            new Random(1),
            new Metrics(),
            List.of(new ImageTap(events, model -> "m".equals(model) ? images : null), last)));
  }

  private Assignment assign(Prompt prompt) {
    return (Assignment) dispatcher.assign(request(prompt), Set.of());
  }

  private static PreparedRequest request(Prompt prompt) {
    return new PreparedRequest("m", prompt, null, true, 0, 0, null);
  }

  /** Sixty tokens of text, in the middle an image. */
  private Prompt chat(String url, @Nullable String uuid) {
    int[] ids = new int[60];
    Arrays.setAll(ids, i -> i == 20 ? PAD : 100 + i);
    ImageParts parts = images.parts();
    parts.add(TextNode.valueOf(url), uuid);
    PlacedImages placed =
        images.place(ids, parts, PromptKeys.NONE, ImageNaming.of(FORM), 1 << 20, true);
    if (!placed.areKnown()) {
      return Prompt.of(new PromptResult.Inexact(FallbackCause.MULTIMODAL, "", placed));
    }
    PromptResult.Tokens text =
        new PromptResult.Tokens(List.of(ids), PromptKeys.NONE, true, true, null);
    return Prompt.of(new PromptResult.Tokens(text, placed, null));
  }

  /** An image of 2 × 2 tokens. */
  private static String data() throws IOException {
    ByteArrayOutputStream file = new ByteArrayOutputStream();
    ImageIO.write(new BufferedImage(56, 56, BufferedImage.TYPE_INT_RGB), "png", file);
    return "data:image/png;base64," + Base64.getEncoder().encodeToString(file.toByteArray());
  }

  private Prompt believed() {
    Objects.requireNonNull(chat(URL, null).images())
        .images()
        .get(0)
        .shown("one", new int[] {PAD, PAD, PAD, PAD});
    return chat(URL, null);
  }

  @Test
  void aChatWithImagesIsUnderWayUntilItEnds() {
    Assignment sent = assign(chat(URL, null));
    assertThat(told).containsExactly("sending 1");
    sent.firstToken();
    assertThat(told).as("the rest of its last block is stored with its answer").hasSize(1);
    sent.finished(Outcome.COMPLETED);
    sent.finished(Outcome.COMPLETED);
    assertThat(told).containsExactly("sending 1", "ended");
  }

  @Test
  void allImagesWereFoundIfTheLastOneWas() {
    for (int cached : List.of(0, 16, 23, 24, 48)) {
      assign(believed()).usage(63, cached);
    }
    assertThat(told.stream().filter(event -> !event.startsWith("sending")))
        .containsExactly("ended", "ended", "ended", "found", "found");
  }

  @Test
  void anImageThatIsNotKnownIsNotFound() {
    assign(chat(URL, null)).usage(63, 48);
    assertThat(told).containsExactly("sending 1", "ended");
  }

  @Test
  void anUnreadChatIsUnderWayUntilItsPromptIsComputed() {
    Prompt prompt = Prompt.of(PromptResult.Inexact.of(FallbackCause.TOO_LONG), true);
    Assignment streamed = assign(prompt);
    assertThat(unread).hasSize(1);
    streamed.firstToken();
    assertThat(unread).isEmpty();
    streamed.finished(Outcome.COMPLETED);
    Assignment whole = assign(prompt);
    whole.usage(63, 0);
    whole.finished(Outcome.COMPLETED);
    assertThat(unread).isEmpty();
    assertThat(told).containsExactly("sending unread", "ended", "ended", "sending unread", "ended");
  }

  @Test
  void eachTryOfAnUnreadChatEnds() {
    PreparedRequest request =
        request(Prompt.of(PromptResult.Inexact.of(FallbackCause.DEADLINE), true));
    Assignment first = (Assignment) dispatcher.assign(request, Set.of());
    Set<String> excluded = new HashSet<>(Set.of("r"));
    Assignment second =
        (Assignment) dispatcher.reassign(request, first, Outcome.FAILED, excluded, true);
    assertThat(told).containsExactly("sending unread", "ended", "sending unread");
    second.finished(Outcome.CANCELLED);
    assertThat(unread).isEmpty();
  }

  @Test
  void whatCannotBeDispatchedEnds() {
    isBroken = true;
    assertThatThrownBy(
            () -> assign(Prompt.of(PromptResult.Inexact.of(FallbackCause.TOO_LONG), true)))
        .hasMessage("broken");
    assertThatThrownBy(() -> assign(chat(URL, null))).hasMessage("broken");
    assertThat(told).containsExactly("sending unread", "ended", "sending 1", "ended");
  }

  @Test
  void ofOtherChatsNothingIsTold() {
    PromptResult.Tokens text =
        new PromptResult.Tokens(List.of(new int[60]), PromptKeys.NONE, true, true, null);
    for (Prompt prompt :
        List.of(
            Prompt.of(text),
            Prompt.of(PromptResult.Inexact.of(FallbackCause.TOO_LONG)),
            Prompt.of(null))) {
      Assignment sent = assign(prompt);
      sent.firstToken();
      sent.usage(61, 0);
      sent.finished(Outcome.COMPLETED);
    }
    assertThat(told).isEmpty();
    assertThat(images.doubtRules()).as("they hold").isTrue();
  }

  @Test
  void rulesByWhichAnEngineDoesNotCountAreDoubted() throws IOException {
    Prompt chat = chat(data(), null);
    assertThat(chat.lengthTokens()).isEqualTo(63);
    assign(chat).usage(63, 0);
    assertThat(chat(data(), null).tokens()).as("they hold").isNotNull();
    assign(chat).usage(70, 0);
    assertThat(leftOut()).isEqualTo(2);
    assign(chat).usage(70, 0);
    assertThat(leftOut()).as("twice in a row").isEqualTo(4);
  }

  @Test
  void rulesByWhichAnEngineCountsAreConfirmed() throws IOException {
    Prompt chat = chat(data(), null);
    assign(chat).usage(70, 0);
    assertThat(leftOut()).isEqualTo(2);
    assign(chat).usage(63, 0);
    assign(chat).usage(70, 0);
    assertThat(leftOut()).isEqualTo(2);
  }

  @Test
  void whatIsOfAnotherRequestConfirmsNothing() throws IOException {
    Prompt chat = chat(data(), null);
    assign(chat).usage(70, 0);
    assertThat(leftOut()).isEqualTo(2);
    Assignment untold = assign(chat);
    untold.untold();
    untold.usage(63, 0);
    assign(chat).usage(70, 0);
    assertThat(leftOut()).isEqualTo(4);
  }

  /** How many chats come next that are not counted by rules. */
  private int leftOut() throws IOException {
    int count = 0;
    while (chat(data(), null).tokens() == null) {
      count++;
    }
    return count;
  }

  @Test
  void whatWasBelievedOfAMiscountedChatIsDoubted() throws IOException {
    assign(believed()).usage(70, 0);
    assertThat(learned.lessons().get(Lesson.DOUBTED)).isEqualTo(1);
    assertThat(chat(data(), null).tokens()).as("the rules hold").isNotNull();
  }

  @Test
  void aMiscountedChatWithANamedImageSaysNothing() throws IOException {
    assign(chat(data(), "mine")).usage(70, 0);
    assertThat(leftOut()).as("the engine may keep another under that name").isZero();
    assertThat(learned.lessons().get(Lesson.DOUBTED)).isZero();
  }

  @Test
  void aModelThatIsNotLoadedIsNotDoubted() throws IOException {
    Prompt chat = chat(data(), null);
    PreparedRequest other = new PreparedRequest(null, chat, null, true, 0, 0, null);
    ((Assignment) dispatcher.assign(other, Set.of())).usage(70, 0);
    assertThat(leftOut()).isZero();
  }
}
