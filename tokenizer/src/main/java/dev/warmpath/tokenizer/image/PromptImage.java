package dev.warmpath.tokenizer.image;

import dev.warmpath.kvindex.block.ImageForm;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One image of a prompt: where its placeholders stand among the tokens, and how it is named.
 *
 * @param from its first placeholder, in tokens
 * @param lengthTokens how many placeholders it has
 * @param uuid the client's name for it, which the engine takes as it is; or null
 * @param identifiers what engines call it, by how they name images
 */
public record PromptImage(
    int from, int lengthTokens, @Nullable String uuid, Map<ImageForm, String> identifiers) {

  public PromptImage {
    identifiers = Map.copyOf(identifiers);
  }

  /** What an engine calls it that names images in this way; null if that is not known. */
  public @Nullable String identifier(@Nullable ImageForm form) {
    if (uuid != null) {
      return uuid;
    }
    return form == null ? null : identifiers.get(form);
  }
}
