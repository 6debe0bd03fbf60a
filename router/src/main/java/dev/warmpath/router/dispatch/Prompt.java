package dev.warmpath.router.dispatch;

import dev.warmpath.eventingest.EngineView;
import dev.warmpath.eventingest.hashing.SglangNamespaces;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.BlockHasher;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.ImageForm;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.router.routing.RoutingRequest;
import dev.warmpath.tokenizer.PromptResult;
import dev.warmpath.tokenizer.body.FallbackCause;
import dev.warmpath.tokenizer.image.PlacedImages;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A request's prompt as dispatching needs it. Of several prompts in one request the first stands
 * for all where blocks are concerned; the length is that of all together.
 *
 * <p>Thread-safe.
 */
public final class Prompt {

  /** Prompts that begin with the same so many tokens begin alike. */
  private static final int PREFIX_TOKENS = 128;

  /**
   * Stands in for the space of an engine that has announced no block yet. Nothing in the index is
   * in it, but prompts sent to such engines can be expected there.
   */
  private static final ChainSpace ASSUMED = new ChainSpace("", 16, 0);

  private final @Nullable PromptResult result;
  private final PromptResult.@Nullable Tokens tokens;
  private final @Nullable BlockChain blocks;
  private final long prefixHash;
  private final boolean hasUnreadImages;
  private volatile @Nullable Named named;

  private Prompt(@Nullable PromptResult result, boolean hasUnreadImages) {
    this.result = result;
    this.hasUnreadImages = hasUnreadImages;
    this.tokens = result instanceof PromptResult.Tokens known ? known : null;
    this.blocks = null;
    this.prefixHash = tokens == null ? 0 : prefixHash(tokens);
  }

  private Prompt(BlockChain blocks) {
    this.result = null;
    this.tokens = null;
    this.hasUnreadImages = false;
    this.blocks = blocks;
    int first =
        Math.min(blocks.blocks(), Math.max(1, PREFIX_TOKENS / blocks.space().blockSizeTokens()));
    this.prefixHash = first == 0 ? 0 : blocks.blockKey(first - 1);
  }

  private static long prefixHash(PromptResult.Tokens tokens) {
    int[] ids = tokens.first(PREFIX_TOKENS);
    PromptKeys keys = tokens.keys();
    String extraKey = tokens.extraKey();
    PromptKeys all =
        extraKey == null
            ? keys
            : keys.salted(Objects.requireNonNullElse(keys.cacheSalt(), "") + "\0" + extraKey);
    return BlockHasher.localHash(ids, 0, ids.length, all.of(0, ids.length));
  }

  /** The prompt that a request's reading gave; null where nothing was read. */
  public static Prompt of(@Nullable PromptResult result) {
    return of(result, false);
  }

  /**
   * The same of a request that may have images of which the reading found out nothing.
   *
   * @param hasUnreadImages whether it may
   */
  public static Prompt of(@Nullable PromptResult result, boolean hasUnreadImages) {
    return new Prompt(result, hasUnreadImages || hasForeignIds(result));
  }

  /** Whether a prompt of ids has some that SGLang puts in the place of images. */
  private static boolean hasForeignIds(@Nullable PromptResult result) {
    return result instanceof PromptResult.Inexact inexact
        && inexact.cause() == FallbackCause.TOKEN_OUT_OF_RANGE;
  }

  /** A prompt of which the blocks are known, and not the tokens, as in a recorded workload. */
  public static Prompt ofBlocks(BlockChain blocks) {
    return new Prompt(blocks);
  }

  /** What the request's reading gave, or null. */
  public @Nullable PromptResult result() {
    return result;
  }

  /** Why the tokens are not known; null if they are. */
  public @Nullable FallbackCause fallback() {
    if (isKnown()) {
      return null;
    }
    return result instanceof PromptResult.Inexact inexact
        ? inexact.cause()
        : FallbackCause.NO_PROMPT;
  }

  /** Why its blocks on an engine are not known; null if they are. */
  public @Nullable FallbackCause fallback(@Nullable BlockChain chain) {
    if (chain != null || !isKnown()) {
      return fallback();
    }
    return tokens != null && tokens.hasImages() && tokens.extraKey() == null
        ? FallbackCause.MULTIMODAL
        : FallbackCause.HIDDEN_NAMESPACE;
  }

  /** Its images, as far as they are known; null for none. */
  public @Nullable PlacedImages images() {
    return result == null ? null : result.images();
  }

  /** Whether it may have images of which nothing is known. */
  public boolean hasUnreadImages() {
    return hasUnreadImages;
  }

  private boolean isKnown() {
    return tokens != null || blocks != null;
  }

  /** The tokens, null if they are not known. */
  public PromptResult.@Nullable Tokens tokens() {
    return tokens;
  }

  /** Tokens of the whole prompt, or {@link RoutingRequest#UNKNOWN_TOKENS}. */
  public int lengthTokens() {
    if (blocks != null) {
      return blocks.promptTokens();
    }
    return tokens == null ? RoutingRequest.UNKNOWN_TOKENS : tokens.totalTokens();
  }

  public boolean readsCache() {
    return blocks != null || (tokens != null && tokens.readsCache());
  }

  /** Whether what slower memory than the GPU's holds counts. */
  public boolean readsSlowTiers() {
    return tokens == null || tokens.readsSlowTiers();
  }

  /** Whether the engine's figure speaks about the tokens known here. */
  public boolean comparable() {
    return blocks != null || (tokens != null && tokens.comparable());
  }

  /** Equal for prompts that begin alike, 0 if the tokens are not known. */
  public long prefixHash() {
    return prefixHash;
  }

  /**
   * The chain in the space of one engine; null if the tokens are not known, the engine's hashes do
   * not show in which name space they are, or it is not known how it names images. It is made once
   * for each space.
   */
  public @Nullable BlockChain chain(EngineView view) {
    if (blocks != null) {
      return view.space() == null ? blocks : chain(blocks, view.space());
    }
    PromptResult.Tokens known = tokens;
    if (known == null || (known.extraKey() != null && !shows(view, known))) {
      return null;
    }
    ChainSpace space = view.space() == null ? ASSUMED : view.space();
    SglangNamespaces namespaces = known.extraKey() == null ? null : view.namespaces();
    ImageForm images = known.hasImages() ? view.imageForm() : null;
    BlockChain before = made(space, namespaces, images);
    if (before != null) {
      return before;
    }
    PromptKeys keys = known.keys(images);
    return keys == null
        ? null
        : keep(space, namespaces, images, made(known, space, keys(known, keys, space, namespaces)));
  }

  /** The blocks may have been sent to an engine that had announced none, and are asked about. */
  private @Nullable BlockChain chain(BlockChain recorded, ChainSpace space) {
    BlockChain there = recorded.space().equals(space) ? recorded : made(space, null, null);
    if (there != null) {
      return there;
    }
    BlockChain moved = recorded.in(space);
    return moved == null ? null : keep(space, null, null, moved);
  }

  private @Nullable BlockChain made(
      ChainSpace space, @Nullable SglangNamespaces namespaces, @Nullable ImageForm images) {
    for (Named made = named; made != null; made = made.before) {
      if (made.space.equals(space)
          && Objects.equals(made.namespaces, namespaces)
          && Objects.equals(made.images, images)) {
        return made.chain;
      }
    }
    return null;
  }

  private BlockChain keep(
      ChainSpace space,
      @Nullable SglangNamespaces namespaces,
      @Nullable ImageForm images,
      BlockChain chain) {
    named = new Named(space, namespaces, images, chain, named);
    return chain;
  }

  private static BlockChain made(PromptResult.Tokens tokens, ChainSpace space, PromptKeys keys) {
    BlockChain chain = tokens.chain(space, keys);
    if (chain.blocks() > 0) {
      long unused = chain.blockKey(0); // makes all keys now, and not under an engine's lock
    }
    return chain;
  }

  private static boolean shows(EngineView view, PromptResult.Tokens tokens) {
    SglangNamespaces namespaces = view.namespaces();
    return namespaces != null && namespaces.shows(tokens.keys().loraName());
  }

  private static PromptKeys keys(
      PromptResult.Tokens tokens,
      PromptKeys own,
      ChainSpace space,
      @Nullable SglangNamespaces namespaces) {
    String extraKey = tokens.extraKey();
    if (namespaces == null || extraKey == null) {
      return own;
    }
    int[] first = tokens.first(space.blockSizeTokens() + space.lookaheadTokens());
    PromptKeys shown = namespaces.keys(space, first, own, extraKey);
    return shown == null ? own : shown; // too short for a block, or it would be shown
  }

  /** A chain that was made, and those before it. */
  private record Named(
      ChainSpace space,
      @Nullable SglangNamespaces namespaces,
      @Nullable ImageForm images,
      BlockChain chain,
      @Nullable Named before) {}
}
