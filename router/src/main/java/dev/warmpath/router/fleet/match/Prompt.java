package dev.warmpath.router.fleet.match;

import dev.warmpath.eventingest.sglang.SglangNamespaces;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.BlockHasher;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.router.fleet.EngineView;
import dev.warmpath.router.routing.RoutingRequest;
import dev.warmpath.tokenizer.PromptResult;
import dev.warmpath.tokenizer.body.RequestNamespace;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A request's prompt as dispatching needs it. Of several prompts in one request the first stands
 * for all where blocks are concerned; the length is that of all together.
 *
 * <p>Confined to the thread that dispatches.
 */
public final class Prompt {

  /** Prompts that begin with the same so many tokens begin alike. */
  private static final int PREFIX_TOKENS = 128;

  /**
   * Stands in for the space of an engine that has announced no block yet. Nothing in the index is
   * in it, but prompts sent to such engines can be expected there.
   */
  private static final ChainSpace ASSUMED = new ChainSpace("", 16, 0);

  private static final String HIDDEN = PromptResult.Reason.HIDDEN_NAMESPACE.label();

  private final PromptResult.@Nullable Tokens tokens;
  private final @Nullable String fallback;
  private final RequestNamespace namespace;
  private final long prefixHash;
  private final Map<Naming, BlockChain> chains = new HashMap<>();

  private Prompt(
      PromptResult.@Nullable Tokens tokens, @Nullable String fallback, RequestNamespace namespace) {
    this.tokens = tokens;
    this.fallback = fallback;
    this.namespace = namespace;
    this.prefixHash = tokens == null ? 0 : prefixHash(tokens);
  }

  private static long prefixHash(PromptResult.Tokens tokens) {
    int[] ids = tokens.first(PREFIX_TOKENS);
    PromptKeys keys = tokens.keys();
    String extraKey = tokens.extraKey();
    PromptKeys all =
        extraKey == null
            ? keys
            : new PromptKeys(
                keys.loraName(),
                Objects.requireNonNullElse(keys.cacheSalt(), "") + "\0" + extraKey);
    return BlockHasher.localHash(ids, 0, ids.length, all.of(0));
  }

  /** The prompt that a request's reading gave; null where nothing was read. */
  public static Prompt of(@Nullable PromptResult result, RequestNamespace namespace) {
    if (result instanceof PromptResult.Tokens tokens) {
      return new Prompt(tokens, null, namespace);
    }
    return result instanceof PromptResult.Inexact inexact
        ? new Prompt(null, inexact.reason().label(), namespace)
        : new Prompt(null, "no_prompt", namespace);
  }

  /** Why the tokens are not known, as a label; null if they are. */
  public @Nullable String fallback() {
    return fallback;
  }

  /** Why its blocks on an engine are not known, as a label; null if they are. */
  public @Nullable String fallback(@Nullable BlockChain chain) {
    return chain == null && tokens != null ? HIDDEN : fallback;
  }

  /** The name space of its blocks. */
  public RequestNamespace namespace() {
    return namespace;
  }

  /** The tokens, null if they are not known. */
  public PromptResult.@Nullable Tokens tokens() {
    return tokens;
  }

  /** Tokens of the whole prompt, or {@link RoutingRequest#UNKNOWN_TOKENS}. */
  public int lengthTokens() {
    return tokens == null ? RoutingRequest.UNKNOWN_TOKENS : tokens.totalTokens();
  }

  public boolean readsCache() {
    return tokens != null && tokens.readsCache();
  }

  /** Whether the engine's figure speaks about the tokens known here. */
  public boolean comparable() {
    return tokens != null && tokens.comparable();
  }

  /** Equal for prompts that begin alike, 0 if the tokens are not known. */
  public long prefixHash() {
    return prefixHash;
  }

  /** Whether it is in the name space of an {@code extra_key}. */
  public boolean hasExtraKey() {
    return tokens != null && tokens.extraKey() != null;
  }

  /**
   * The chain in the space of one engine; null if the tokens are not known, or the engine's hashes
   * do not show in which name space they are.
   */
  @Nullable BlockChain chain(EngineView view) {
    PromptResult.Tokens known = tokens;
    if (known == null || (known.extraKey() != null && !shows(view, known))) {
      return null;
    }
    ChainSpace space = view.space() == null ? ASSUMED : view.space();
    SglangNamespaces namespaces = known.extraKey() == null ? null : view.namespaces();
    return chains.computeIfAbsent(
        new Naming(space, namespaces), naming -> withKeys(known.chain(space, naming.keys(known))));
  }

  /** Makes the block keys now, not under the dispatcher's lock. */
  private static BlockChain withKeys(BlockChain chain) {
    if (chain.blocks() > 0) {
      long unused = chain.blockKey(0);
    }
    return chain;
  }

  private static boolean shows(EngineView view, PromptResult.Tokens tokens) {
    SglangNamespaces namespaces = view.namespaces();
    return namespaces != null && namespaces.shows(tokens.keys().loraName());
  }

  /** By what the blocks of one engine are named. */
  private record Naming(ChainSpace space, @Nullable SglangNamespaces namespaces) {

    PromptKeys keys(PromptResult.Tokens tokens) {
      String extraKey = tokens.extraKey();
      if (namespaces == null || extraKey == null) {
        return tokens.keys();
      }
      int[] first = tokens.first(space.blockSizeTokens() + space.lookaheadTokens());
      PromptKeys shown = namespaces.keys(space, first, tokens.keys(), extraKey);
      return shown == null ? tokens.keys() : shown; // too short for a block, or it would be shown
    }
  }
}
