package dev.warmpath.tokenizer.image;

import dev.warmpath.kvindex.block.ImageForm;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How the engines of a model may name images: an image gets an identifier in each of these forms.
 *
 * @param forms none if nothing is known; then only images with an {@code uuid} have an identifier
 * @param usual what an engine is taken to use that was not found out yet; null for nothing
 */
public record ImageNaming(List<ImageForm> forms, @Nullable ImageForm usual) {

  /** No engine's images can be named. */
  public static final ImageNaming UNKNOWN = new ImageNaming(List.of(), null);

  public ImageNaming {
    forms = List.copyOf(forms);
  }

  /** All engines use this form. */
  public static ImageNaming of(ImageForm form) {
    return new ImageNaming(List.of(form), form);
  }
}
