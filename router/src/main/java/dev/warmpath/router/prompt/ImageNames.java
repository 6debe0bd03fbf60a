package dev.warmpath.router.prompt;

import dev.warmpath.tokenizer.image.ImageNaming;
import org.jspecify.annotations.Nullable;

/** Knows how the engines of the fleet name images. Implementations are thread-safe. */
@FunctionalInterface
public interface ImageNames {

  /** Nothing is known. */
  ImageNames NONE = model -> ImageNaming.UNKNOWN;

  /**
   * How engines that serve a model may name images; each is asked for a chat with images.
   *
   * @param model null for whatever they serve
   */
  ImageNaming of(@Nullable String model);
}
