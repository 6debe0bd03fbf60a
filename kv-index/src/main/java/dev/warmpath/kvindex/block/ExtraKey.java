package dev.warmpath.kvindex.block;

/**
 * Something besides its tokens that belongs to a block's identity: two blocks with equal tokens and
 * different extra keys are different blocks.
 *
 * <p>The kinds and their order within a block (LoRA, multimodal, salt, embeds) are vLLM's.
 */
public sealed interface ExtraKey {

  /** The LoRA adapter that computed the block; on every block of such a request. */
  record Lora(String name) implements ExtraKey {}

  /**
   * One multimodal item that overlaps the block.
   *
   * @param identifier the engine's hash of the item
   * @param offset where the item begins, in tokens from the block's first one; negative when it
   *     began earlier
   */
  record Multimodal(String identifier, int offset) implements ExtraKey {}

  /** The tenant's salt; on the first block only, which is enough to part the whole chain. */
  record CacheSalt(String salt) implements ExtraKey {}

  /** A digest of prompt embeddings that stand in the place of tokens, in lower-case hexadecimal. */
  record PromptEmbeds(String digest) implements ExtraKey {}
}
