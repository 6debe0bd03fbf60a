package dev.warmpath.router.tokenize;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.kvindex.block.ImageForm;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.upstream.EngineClient.Answer;
import dev.warmpath.router.upstream.EngineHttp;
import dev.warmpath.tokenizer.ModelTokenizer;
import dev.warmpath.tokenizer.PromptResult.Tokens;
import dev.warmpath.tokenizer.RequestKind;
import dev.warmpath.tokenizer.image.ImageNaming;
import dev.warmpath.tokenizer.image.PlacedImages;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * How a chat with one image compares with one engine: its tokens by {@code /tokenize}, which vLLM
 * answers with all placeholders of an image, and the image's name by the render route, where it is
 * open.
 *
 * @param model the model's name in requests
 * @param ourTokens 0 if its images are not known here
 * @param engineTokens 0 if the engine does not take the chat, negative if it does not show images
 * @param isEqual whether both have the same tokens
 * @param name what became of the image's name
 * @param form how the engine names images; null unless {@code name} is {@link Name#KNOWN}
 * @param refusal why the engine does not take the chat, in its own words; null if it takes it, or
 *     its model has no images at all
 */
public record ImageComparison(
    String model,
    int ourTokens,
    int engineTokens,
    boolean isEqual,
    Name name,
    @Nullable ImageForm form,
    @Nullable String refusal) {

  /** Whether an image's name was found among those that it may have. */
  public enum Name {
    /** It is made as is known here. */
    KNOWN,
    /** It is made otherwise. */
    OTHER,
    /** The engine does not tell it. */
    UNTOLD
  }

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int OK = 200;
  private static final int BAD_REQUEST = 400;
  private static final int MOST_REFUSAL_CHARS = 200;

  /**
   * What vLLM (0.32) says to an image for a model that has none ({@code multimodal/registry.py}),
   * or with {@code --limit-mm-per-prompt} 0 ({@code multimodal/processing/context.py}).
   */
  private static final List<String> TAKES_NONE =
      List.of("is not a multimodal model", "At most 0 image(s)");

  /** A white PNG of 224 × 224 pixels. */
  private static final String IMAGE =
      "data:image/png;base64,"
          + "iVBORw0KGgoAAAANSUhEUgAAAOAAAADgCAIAAACVT/22AAABqElEQVR42u3SAQ0AAAzCMPybBht/"
          + "0kpYlsJhkQCDgkExKBgUDIpBwaAYFAwKBsWgYFAMCgYFg2JQMCgGBYOCQTEoGBSDgkHBoBgUDAoG"
          + "xaBgUAwKBgWDYlAwKAYFg4JBMSgYFIOCQcGgGBQMikHBoGBQDAoGBYNiUDAoBgWDgkExKBgUg4JB"
          + "waAYFAyKQcGgYFAMCgbFoGBQMCgGBYOCQTEoGBSDgkHBoBgUDIpBwaBgUAwKBsWgYFAwKAYFg2JQ"
          + "MCgYFIOCQcGgGBQMikHBoGBQDAoGxaBgUDAoBgWDYlAwKBgUg4JBMSgYFAyKQcGgYFAMCgbFoGBQ"
          + "MCgGBYNiUDAoGBSDgkExKBgUDIpBwaAYFAwKBsWgYFAwKAYFg2JQMCgYFIOCQTEoGBQMikHBoBgU"
          + "DAoGxaBgUAwKBgWDYlAwKBgUg4JBMSgYFAyKQcGgGBQMCgbFoGBQDAoGBYNiUDAoBgWDgkExKBgU"
          + "DIpBwaAYFAwKBsWgYFAMCgYFg2JQMCgGBYOCQTEoGBSDgkHBoBgUDAoGxaBgUAwKBgWDYlAwKAYF"
          + "g4JB+WgHrNZIgn4W9gAAAABJRU5ErkJggg==";

  /**
   * Asks the engine. Blocks.
   *
   * @param root what the engine was started with for the model, or null
   * @return null if it cannot be asked
   */
  public static @Nullable ImageComparison of(
      String model,
      @Nullable String root,
      ModelTokenizer tokenizer,
      Replica replica,
      EngineHttp http,
      Duration timeout) {
    ObjectNode chat = chat(model);
    ImageNaming naming = new ImageNaming(ImageForm.all(root == null ? model : root), null);
    Tokens ours =
        tokenizer.prompt(RequestKind.CHAT, chat, null, naming) instanceof Tokens tokens
            ? tokens
            : null;
    int[] ids = ours == null ? new int[0] : ours.sequences().get(0);
    try {
      Answer cut = http.post(replica, TokenizeCall.PATH, TokenizeCall.body(chat), timeout).join();
      if (cut.status() == BAD_REQUEST) {
        String refusal = refusal(cut.body());
        return new ImageComparison(model, ids.length, 0, false, Name.UNTOLD, null, refusal);
      }
      int[] theirs = cut.status() == OK ? TokenizeCall.tokenIds(cut.body()) : null;
      if (theirs == null || theirs.length == 0) {
        return null;
      }
      boolean shown = ids.length == 0 || count(theirs, placeholder(ids)) > 1;
      int length = shown ? theirs.length : -1;
      String name = ours == null ? null : name(chat, replica, http, timeout);
      PlacedImages images = ours == null ? null : ours.images();
      Map<String, ImageForm> names = images == null ? Map.of() : images.names();
      Name found = name == null ? Name.UNTOLD : names.containsKey(name) ? Name.KNOWN : Name.OTHER;
      return new ImageComparison(
          model,
          ids.length,
          length,
          Arrays.equals(ids, theirs),
          found,
          name == null ? null : names.get(name),
          null);
    } catch (CompletionException | CancellationException | IOException e) {
      return null;
    }
  }

  /** The message of an error; null if it is that the model takes no images. */
  private static @Nullable String refusal(byte[] body) {
    String text = new String(body, StandardCharsets.UTF_8);
    if (TAKES_NONE.stream().anyMatch(text::contains)) {
      return null;
    }
    String message = message(text);
    return message.substring(0, Math.min(message.length(), MOST_REFUSAL_CHARS));
  }

  private static String message(String text) {
    try {
      JsonNode read = JSON.readTree(text);
      JsonNode message = read.at("/error/message");
      return message.isTextual() ? message.textValue() : read.path("message").asText(text);
    } catch (IOException e) {
      return text; // an error of something in between
    }
  }

  /** The image's name by the render route; null if it is closed, or tells none. */
  private static @Nullable String name(
      ObjectNode chat, Replica replica, EngineHttp http, Duration timeout) throws IOException {
    Answer answer =
        http.post(replica, "/v1/chat/completions/render", RenderCall.body(chat), timeout).join();
    if (answer.status() != OK) {
      return null;
    }
    JsonNode read = JSON.readTree(answer.body());
    JsonNode names = (read.isArray() ? read.path(0) : read).at("/features/mm_hashes/image");
    return names.path(0).isTextual() ? names.path(0).textValue() : null;
  }

  private static ObjectNode chat(String model) {
    ObjectNode chat = JSON.createObjectNode().put("model", model);
    ArrayNode parts = chat.putArray("messages").addObject().put("role", "user").putArray("content");
    parts.addObject().put("type", "image_url").putObject("image_url").put("url", IMAGE);
    parts.addObject().put("type", "text").put("text", "What is it?");
    return chat;
  }

  /** The token that stands for an image: there are more of it than of any other. */
  private static int placeholder(int[] ids) {
    return Arrays.stream(ids)
        .boxed()
        .max(Comparator.comparingInt(id -> count(ids, id)))
        .orElseThrow();
  }

  private static int count(int[] ids, int wanted) {
    return (int) Arrays.stream(ids).filter(id -> id == wanted).count();
  }
}
