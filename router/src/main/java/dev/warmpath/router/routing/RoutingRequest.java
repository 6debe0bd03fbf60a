package dev.warmpath.router.routing;

import org.jspecify.annotations.Nullable;

/**
 * What a policy knows of a request. It is valid for the call that it is given to.
 *
 * @param promptTokens length of the prompt, or {@link #UNKNOWN_TOKENS}
 * @param blocks the prompt's blocks; {@link PromptBlocks#NONE} if they are not known
 * @param sessionKey what the client named its session or user, or null
 * @param prefixHash hash of how the prompt begins, equal for prompts that begin alike; 0 if unknown
 * @param draw this request's random number, drawn once, all 64 bits uniform
 * @param nowNanos when it is routed, in nanoseconds from anywhere
 * @param sinceNanos when it came, earlier if it had to wait
 * @param place this router's among those that choose at the same time, from 0 to below 1 and spread
 *     evenly; {@link #ALONE} if no others do
 */
public record RoutingRequest(
    int promptTokens,
    PromptBlocks blocks,
    @Nullable String sessionKey,
    long prefixHash,
    long draw,
    long nowNanos,
    long sinceNanos,
    double place) {

  /** The prompt's length when its tokens are not known. */
  public static final int UNKNOWN_TOKENS = -1;

  /** The place of a router at a time at which no others choose. */
  public static final double ALONE = -1;

  public RoutingRequest {
    if (promptTokens < UNKNOWN_TOKENS) {
      throw new IllegalArgumentException("promptTokens=" + promptTokens);
    }
    if (!((place >= 0 && place < 1) || place == ALONE)) {
      throw new IllegalArgumentException("place=" + place);
    }
  }

  /** One of a router without others. */
  public RoutingRequest(
      int promptTokens,
      PromptBlocks blocks,
      @Nullable String sessionKey,
      long prefixHash,
      long draw,
      long nowNanos) {
    this(promptTokens, blocks, sessionKey, prefixHash, draw, nowNanos, nowNanos, ALONE);
  }

  /** Length of the prompt; 0 if its tokens are not known. */
  public int knownTokens() {
    return Math.max(0, promptTokens);
  }

  /** The prompt's length in blocks, the last one in part; at least 1. */
  public long lengthBlocks() {
    int size = blocks.blockSizeTokens();
    return Math.max(1, ((long) knownTokens() + size - 1) / size);
  }
}
