package dev.warmpath.kvindex.block;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The extra keys that a request gives to the blocks of its prompt.
 *
 * @param loraName the adapter that serves the request, or null for the base model
 * @param cacheSalt the request's {@code cache_salt}, or null
 */
public record PromptKeys(@Nullable String loraName, @Nullable String cacheSalt) {

  /** A request to the base model without a salt. */
  public static final PromptKeys NONE = new PromptKeys(null, null);

  /** The extra keys of block {@code blockIndex}, in the engine's order. */
  public List<ExtraKey> of(int blockIndex) {
    String salt = blockIndex == 0 ? cacheSalt : null;
    if (loraName == null && salt == null) {
      return List.of();
    }
    List<ExtraKey> keys = new ArrayList<>(2);
    if (loraName != null) {
      keys.add(new ExtraKey.Lora(loraName));
    }
    if (salt != null) {
      keys.add(new ExtraKey.CacheSalt(salt));
    }
    return keys;
  }
}
