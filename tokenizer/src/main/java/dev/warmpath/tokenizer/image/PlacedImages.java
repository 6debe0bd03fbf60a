package dev.warmpath.tokenizer.image;

import dev.warmpath.kvindex.block.ImageForm;
import dev.warmpath.kvindex.block.PromptKeys;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A prompt with images, as far as it is known.
 *
 * <p>Immutable.
 */
public final class PlacedImages {

  private final int[] ids;
  private final PromptKeys plain;
  private final List<PromptImage> images;
  private final boolean areInTokens;
  private final @Nullable ImageForm usualForm;

  /**
   * @param ids with the tokens of each image, or one for all if they are not known; not to be
   *     changed
   * @param plain what tells its blocks apart beside its images
   * @param areInTokens whether the tokens tell the images apart
   * @param usualForm how an engine is taken to name images of which that is not known
   */
  PlacedImages(
      int[] ids,
      PromptKeys plain,
      List<PromptImage> images,
      boolean areInTokens,
      @Nullable ImageForm usualForm) {
    this.ids = ids;
    this.plain = plain;
    this.images = List.copyOf(images);
    this.areInTokens = areInTokens;
    this.usualForm = usualForm;
  }

  /** The prompt's tokens, not to be changed. */
  public int[] ids() {
    return ids;
  }

  public List<PromptImage> images() {
    return images;
  }

  /** Whether all its tokens are known, and a name that each image may have. */
  public boolean areKnown() {
    return images.stream().allMatch(PromptImage::isKnown);
  }

  /**
   * Whether the client named one of the images itself: an engine takes for it what it keeps under
   * that name, which may have another size.
   */
  public boolean areNamed() {
    return images.stream().anyMatch(image -> image.uuid() != null);
  }

  /** Whether its length follows from rules alone, without anything that was learned. */
  public boolean isByRules() {
    return images.stream().noneMatch(image -> image.isBelieved() && !image.hasFixedRun());
  }

  /** The keys at an engine that names images in this way; null if an image has no such name. */
  public @Nullable PromptKeys keys(@Nullable ImageForm form) {
    PromptKeys keys = firstKeys(form);
    return keys.items().size() == images.size() ? keys : null;
  }

  /**
   * The same for as many of the first images as are known.
   *
   * @param form null for an engine of which it is not known how it names images
   */
  public PromptKeys firstKeys(@Nullable ImageForm form) {
    List<PromptKeys.Item> items = new ArrayList<>(images.size());
    for (PromptImage image : images) {
      String identifier = image.identifier(form, form == null ? usualForm : null);
      if (identifier == null || image.lengthTokens() == 0) {
        break;
      }
      items.add(new PromptKeys.Item(identifier, image.from(), image.lengthTokens(), areInTokens));
    }
    return new PromptKeys(plain.loraName(), plain.cacheSalt(), items);
  }

  /** All names that were computed for the images, with how each of them is made. */
  public Map<String, ImageForm> names() {
    Map<String, ImageForm> names = new HashMap<>();
    for (PromptImage image : images) {
      if (image.uuid() == null) {
        image.identifiers().forEach((form, name) -> names.put(name, form));
      }
    }
    return names;
  }

  /**
   * An engine has told how many tokens of the prompt it found: believes what it was expected to
   * find more, or the first image that it did not find less. Where it found less than stands before
   * that image, the image has nothing to do with it.
   *
   * @param expectedTokens how many it should have found of what it holds itself
   */
  public void judge(int expectedTokens, int cachedTokens, int blockSizeTokens) {
    for (PromptImage image : images) {
      int end = image.from() + image.lengthTokens();
      if (image.isBelieved() && image.from() < expectedTokens) {
        if (cachedTokens >= Math.min(expectedTokens, end)) {
          image.learned().confirm();
        } else {
          if (cachedTokens > image.from() - blockSizeTokens) {
            image.learned().doubt();
          }
          return; // what stands behind it could not be found
        }
      }
    }
  }

  /**
   * Whether an engine may have found less of the prompt than expected because of what is believed
   * of an image, whatever is known of the engine's cache: what it found ends where that begins, or
   * within it.
   */
  public boolean mayExplain(int expectedTokens, int cachedTokens, int blockSizeTokens) {
    return images.stream()
        .filter(image -> image.isBelieved() && image.from() < expectedTokens)
        .anyMatch(image ->
            cachedTokens > image.from() - blockSizeTokens
                && cachedTokens < Math.min(expectedTokens, image.from() + image.lengthTokens()));
  }

  /** An engine counts the prompt's tokens otherwise. */
  public void doubtLengths() {
    images.stream().filter(PromptImage::isBelieved).forEach(image -> image.learned().doubt());
  }
}
