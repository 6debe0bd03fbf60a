package dev.warmpath.kvindex.enginehash;

import dev.warmpath.kvindex.block.ExtraKey;
import dev.warmpath.kvindex.enginehash.HashScheme.HashedKeys;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * Computes the hashes that a vLLM engine gives to its blocks, each from its parent's.
 *
 * <p>A hash is the digest of the serialized tuple (parent's hash, tokens, extra keys). Extra keys
 * must come in the engine's order.
 *
 * <p>Thread-safe.
 */
public final class EngineHasher {

  private final HashScheme scheme;
  private final UnaryOperator<String> adapterPath;
  private final byte[] rootHash;

  /**
   * @param adapterPath the path of the LoRA adapter with this name, as the engine knows it; asked
   *     for {@link HashedKeys#TAGGED} only
   */
  public EngineHasher(HashScheme scheme, UnaryOperator<String> adapterPath) {
    this.scheme = scheme;
    this.adapterPath = adapterPath;
    HashAlgorithm.ObjectWriter seed = scheme.algorithm().writer();
    seed.text(scheme.seed());
    rootHash = scheme.algorithm().digest(seed.finish());
  }

  public HashScheme scheme() {
    return scheme;
  }

  /** What stands for the parent of block 0: vLLM's {@code NONE_HASH}. */
  public byte[] rootHash() {
    return rootHash.clone();
  }

  /**
   * The hash of one block.
   *
   * @param parent the hash of the block before it, or the root hash
   * @param tokenIds holds the block and, right after it, its lookahead tokens
   * @param from index of the block's first token
   * @param extraKeys in the engine's order
   */
  public byte[] hash(byte[] parent, int[] tokenIds, int from, List<ExtraKey> extraKeys) {
    HashAlgorithm.ObjectWriter block = scheme.algorithm().writer();
    block.openTuple(3);
    block.bytes(parent);
    block.integers(tokenIds, from, scheme.blockSizeTokens());
    if (scheme.lookaheadTokens() == 0) {
      write(block, extraKeys);
    } else {
      writeWithLookahead(block, extraKeys, tokenIds, from + scheme.blockSizeTokens());
    }
    block.closeTuple(3);
    return scheme.algorithm().digest(block.finish());
  }

  /** The hash as the engine publishes it: its last eight bytes, an unsigned integer. */
  public static long low64(byte[] hash) {
    return ByteBuffer.wrap(hash).getLong(hash.length - Long.BYTES);
  }

  private void writeWithLookahead(
      HashAlgorithm.ObjectWriter block, List<ExtraKey> extraKeys, int[] tokenIds, int from) {
    int size = 1 + scheme.lookaheadTokens();
    block.openTuple(size);
    write(block, extraKeys);
    for (int i = 0; i < scheme.lookaheadTokens(); i++) {
      block.integer(tokenIds[from + i]);
    }
    block.closeTuple(size);
  }

  private void write(HashAlgorithm.ObjectWriter block, List<ExtraKey> extraKeys) {
    if (extraKeys.isEmpty()) {
      block.none();
      return;
    }
    block.openTuple(extraKeys.size());
    for (ExtraKey key : extraKeys) {
      if (scheme.keys() == HashedKeys.TAGGED) {
        writeTagged(block, key);
      } else {
        writeUntagged(block, key);
      }
    }
    block.closeTuple(extraKeys.size());
  }

  private void writeTagged(HashAlgorithm.ObjectWriter block, ExtraKey key) {
    boolean pair = key instanceof ExtraKey.CacheSalt || key instanceof ExtraKey.PromptEmbeds;
    int size = pair ? 2 : 3;
    block.openTuple(size);
    if (key instanceof ExtraKey.Lora lora) {
      block.constant("lora");
      block.text(lora.name());
      block.text(adapterPath.apply(lora.name()));
    } else if (key instanceof ExtraKey.Multimodal item) {
      block.constant("mm");
      block.text(item.identifier());
      block.integer(item.offset());
    } else if (key instanceof ExtraKey.CacheSalt salt) {
      block.constant("cache_salt");
      block.text(salt.salt());
    } else if (key instanceof ExtraKey.PromptEmbeds embeds) {
      block.constant("prompt_embeds");
      block.bytes(digest(embeds));
    }
    block.closeTuple(size);
  }

  private static void writeUntagged(HashAlgorithm.ObjectWriter block, ExtraKey key) {
    if (key instanceof ExtraKey.Lora lora) {
      block.text(lora.name());
    } else if (key instanceof ExtraKey.Multimodal item) {
      block.openTuple(2);
      block.text(item.identifier());
      block.integer(item.offset());
      block.closeTuple(2);
    } else if (key instanceof ExtraKey.CacheSalt salt) {
      block.text(salt.salt());
    } else if (key instanceof ExtraKey.PromptEmbeds embeds) {
      block.bytes(digest(embeds));
    }
  }

  private static byte[] digest(ExtraKey.PromptEmbeds embeds) {
    return HexFormat.of().parseHex(embeds.digest());
  }
}
