package dev.warmpath.tokenizer.image;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.tokenizer.body.FallbackCause;
import dev.warmpath.tokenizer.body.InexactPromptException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The images of one chat, in the order of its messages.
 *
 * <p>Confined to the thread that renders the chat.
 */
public final class ImageParts {

  /** More in one chat are not worth the time. */
  private static final int MOST = 256;

  private static final int LONGEST_URL_CHARS = 1 << 16;
  private static final int LONGEST_UUID_CHARS = 1024;

  private final @Nullable String placeholder;
  private final boolean takesImages;
  private final List<Part> parts = new ArrayList<>();

  /** An image as the request has it: a URL, and the client's name for it or null. */
  record Part(String url, @Nullable String uuid) {}

  private ImageParts(@Nullable String placeholder, boolean takesImages) {
    this.placeholder = placeholder;
    this.takesImages = takesImages;
  }

  /**
   * A chat that may have images.
   *
   * @param placeholder what stands for an image where the content of a message is one text; null if
   *     that is not known, then only templates that take parts are
   */
  public static ImageParts of(@Nullable String placeholder) {
    return new ImageParts(placeholder, true);
  }

  /** A chat whose images cannot be known. */
  public static ImageParts none() {
    return new ImageParts(null, false);
  }

  /** What stands for an image where the content of a message is one text. */
  public String placeholder() {
    if (placeholder == null) {
      throw inexact("an image");
    }
    return placeholder;
  }

  /**
   * Adds an image.
   *
   * @param url what the part gives, text or nothing
   * @throws InexactPromptException if its tokens cannot be known
   */
  public void add(JsonNode url, @Nullable String uuid) {
    if (!takesImages) {
      throw inexact("an image");
    }
    if (!url.isTextual() || !isImage(url.textValue())) {
      throw inexact("an image that is elsewhere");
    }
    if (uuid != null && uuid.length() > LONGEST_UUID_CHARS) {
      throw inexact("an image with a uuid of more than " + LONGEST_UUID_CHARS + " characters");
    }
    if (parts.size() == MOST) {
      throw inexact("more than " + MOST + " images");
    }
    parts.add(new Part(url.textValue(), uuid));
  }

  private static boolean isImage(String url) {
    return DataUrl.isOne(url) || (url.length() <= LONGEST_URL_CHARS && isRemote(url));
  }

  private static boolean isRemote(String url) {
    return url.regionMatches(true, 0, "http://", 0, 7)
        || url.regionMatches(true, 0, "https://", 0, 8);
  }

  public boolean isEmpty() {
    return parts.isEmpty();
  }

  List<Part> all() {
    return parts;
  }

  static InexactPromptException inexact(String detail) {
    return new InexactPromptException(FallbackCause.MULTIMODAL, detail);
  }
}
