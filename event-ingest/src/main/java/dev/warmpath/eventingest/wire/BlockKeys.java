package dev.warmpath.eventingest.wire;

import dev.warmpath.kvindex.block.ExtraKey;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a store says about its blocks' identity besides tokens.
 *
 * <p>vLLM lists extra keys per block (since 0.19) and repeats the adapter's name among them; SGLang
 * and older vLLM give one adapter name and one salt for the whole event. {@link #of} makes one form
 * of both.
 *
 * @param loraName the adapter that computed the blocks, or null
 * @param cacheSalt SGLang's salt of the whole chain, or null
 * @param perBlock one list for each hash as the event gave them, or empty when it gave none
 * @param naming {@code DENSE}, unless the keys by themselves forbid to name the blocks
 */
public record BlockKeys(
    @Nullable String loraName,
    @Nullable String cacheSalt,
    List<List<ExtraKey>> perBlock,
    Naming naming) {

  /** No extra keys at all. */
  public static final BlockKeys NONE = new BlockKeys(null, null, List.of(), Naming.DENSE);

  /**
   * The extra keys of one block, in the order of {@link dev.warmpath.kvindex.block.PromptKeys}.
   *
   * @param block its index in the event
   * @param first whether it is the first block of a chain, which alone carries a salt
   */
  public List<ExtraKey> of(int block, boolean first) {
    List<ExtraKey> given = perBlock.isEmpty() ? List.of() : perBlock.get(block);
    if (loraName == null && cacheSalt == null) {
      return given;
    }
    List<ExtraKey> keys = new ArrayList<>(given.size() + 2);
    if (loraName != null && !startsWithLora(given)) {
      keys.add(new ExtraKey.Lora(loraName));
    }
    keys.addAll(given);
    if (cacheSalt != null && first) {
      keys.add(new ExtraKey.CacheSalt(cacheSalt));
    }
    return keys;
  }

  private static boolean startsWithLora(List<ExtraKey> keys) {
    return !keys.isEmpty() && keys.get(0) instanceof ExtraKey.Lora;
  }
}
