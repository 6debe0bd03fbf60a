package dev.warmpath.router.fleet.match;

import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.BlockHasher;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.router.routing.RoutingRequest;
import dev.warmpath.tokenizer.PromptResult;
import dev.warmpath.tokenizer.body.RequestNamespace;
import java.util.HashMap;
import java.util.Map;
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

  private final PromptResult.@Nullable Tokens tokens;
  private final @Nullable String fallback;
  private final RequestNamespace namespace;
  private final long prefixHash;
  private final Map<ChainSpace, BlockChain> chains = new HashMap<>();

  private Prompt(
      PromptResult.@Nullable Tokens tokens, @Nullable String fallback, RequestNamespace namespace) {
    this.tokens = tokens;
    this.fallback = fallback;
    this.namespace = namespace;
    this.prefixHash = tokens == null ? 0 : prefixHash(tokens);
  }

  private static long prefixHash(PromptResult.Tokens tokens) {
    int[] ids = tokens.first(PREFIX_TOKENS);
    return BlockHasher.localHash(ids, 0, ids.length, tokens.keys().of(0));
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

  /** The chain in the space of one engine, null if the tokens are not known. */
  @Nullable BlockChain chain(@Nullable ChainSpace space) {
    if (tokens == null) {
      return null;
    }
    return chains.computeIfAbsent(space == null ? ASSUMED : space, tokens::chain);
  }
}
