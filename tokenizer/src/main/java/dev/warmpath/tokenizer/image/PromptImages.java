package dev.warmpath.tokenizer.image;

import dev.warmpath.tokenizer.body.InexactPromptException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/**
 * The images of one model's chats: read, hashed and put among the tokens.
 *
 * <p>Thread-safe.
 */
public final class PromptImages {

  private final @Nullable ImageTokens tokens;
  private final ImageMemory memory;

  /**
   * The tokens of a prompt, and its images.
   *
   * @param ids not to be changed
   */
  @SuppressWarnings("ArrayRecordComponent") // read at once, never compared
  public record Placed(int[] ids, List<PromptImage> images) {}

  /**
   * @param tokens null if images of the model are not known here
   */
  public PromptImages(@Nullable ImageTokens tokens, ImageMemory memory) {
    this.tokens = tokens;
    this.memory = memory;
  }

  /** Collects the images of a chat that is about to be rendered. */
  public ImageParts parts() {
    return tokens == null ? ImageParts.none() : new ImageParts(tokens.placeholder());
  }

  /** What is remembered of images. */
  public ImageMemory memory() {
    return memory;
  }

  /**
   * Puts the images of a chat among its tokens. Takes milliseconds for a megabyte that is new.
   *
   * @param ids of the rendered text, which has one token for each image
   * @throws InexactPromptException if an image or its place cannot be known
   * @throws CancellationException if the thread is interrupted before that
   */
  public Placed place(int[] ids, ImageParts parts, ImageNaming naming) {
    List<ImageMemory.Facts> facts = new ArrayList<>();
    List<ImageHeader> headers = new ArrayList<>();
    for (ImageParts.Part part : parts.all()) {
      if (Thread.currentThread().isInterrupted()) {
        throw new CancellationException("the images were given up");
      }
      if (part.uuid() == null && naming.forms().isEmpty()) {
        throw ImageParts.inexact("an image, of which it is not known what engines call it");
      }
      ImageMemory.Facts known =
          memory.of(part.url(), part.uuid() == null ? naming.forms() : List.of());
      if (known.header() == null) {
        throw ImageParts.inexact("an image whose headers are not known here");
      }
      facts.add(known);
      headers.add(known.header());
    }
    ImageTokens.Expanded expanded = tokens == null ? null : tokens.expand(ids, headers);
    if (expanded == null) {
      throw ImageParts.inexact("images that do not fit the places in the text");
    }
    List<PromptImage> images = new ArrayList<>();
    for (int i = 0; i < facts.size(); i++) {
      images.add(
          new PromptImage(
              expanded.from()[i],
              expanded.lengths()[i],
              parts.all().get(i).uuid(),
              facts.get(i).identifiers()));
    }
    return new Placed(expanded.ids(), images);
  }
}
