package dev.warmpath.kvindex.block;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The extra keys that a request gives to the blocks of its prompt.
 *
 * @param loraName the adapter that serves the request, or null for the base model
 * @param cacheSalt the request's {@code cache_salt}, or null
 * @param items what stands among the tokens as placeholders, in the order of their places
 */
public record PromptKeys(@Nullable String loraName, @Nullable String cacheSalt, List<Item> items) {

  /**
   * An image of a prompt.
   *
   * @param identifier the engine's hash of it
   * @param from where its placeholders begin, in tokens
   * @param lengthTokens how many they are
   * @param isInTokens whether the tokens themselves tell it apart, so that no extra key does
   */
  public record Item(String identifier, int from, int lengthTokens, boolean isInTokens) {

    /** One that extra keys tell apart. */
    public Item(String identifier, int from, int lengthTokens) {
      this(identifier, from, lengthTokens, false);
    }
  }

  /** A request to the base model without a salt. */
  public static final PromptKeys NONE = new PromptKeys(null, null);

  public PromptKeys {
    items = List.copyOf(items);
  }

  /** The keys of a prompt of text alone. */
  public PromptKeys(@Nullable String loraName, @Nullable String cacheSalt) {
    this(loraName, cacheSalt, List.of());
  }

  /** The same with another salt. */
  public PromptKeys salted(@Nullable String salt) {
    return new PromptKeys(loraName, salt, items);
  }

  /** The extra keys of block {@code blockIndex}, in the engine's order. */
  public List<ExtraKey> of(int blockIndex, int blockSizeTokens) {
    String salt = blockIndex == 0 ? cacheSalt : null;
    if (loraName == null && salt == null && items.isEmpty()) {
      return List.of();
    }
    List<ExtraKey> keys = new ArrayList<>(2);
    if (loraName != null) {
      keys.add(new ExtraKey.Lora(loraName));
    }
    addItems(keys, (long) blockIndex * blockSizeTokens, blockSizeTokens);
    if (salt != null) {
      keys.add(new ExtraKey.CacheSalt(salt));
    }
    return keys;
  }

  private void addItems(List<ExtraKey> keys, long start, int blockSizeTokens) {
    for (Item item : items) {
      long end = (long) item.from + item.lengthTokens;
      if (!item.isInTokens && item.from < start + blockSizeTokens && end > start) {
        keys.add(new ExtraKey.Multimodal(item.identifier, (int) (item.from - start)));
      }
    }
  }

  /** How many leading blocks have no keys but those of the first one. */
  int plainBlocks(int blocks, int blockSizeTokens) {
    if (loraName != null) {
      return 0;
    }
    for (Item item : items) {
      if (!item.isInTokens) {
        return Math.min(blocks, item.from / blockSizeTokens);
      }
    }
    return blocks;
  }
}
