package dev.warmpath.router.routing;

import org.jspecify.annotations.Nullable;

/**
 * What a policy knows of a request.
 *
 * <p>Immutable.
 *
 * @param promptTokens length of the prompt, or {@link #UNKNOWN_TOKENS}
 * @param sessionKey what the client named its session or user, or null
 * @param prefixHash hash of how the prompt begins, equal for prompts that begin alike; 0 if unknown
 * @param draw this request's random number, drawn once, all 64 bits uniform
 */
public record RoutingRequest(
    int promptTokens, @Nullable String sessionKey, long prefixHash, long draw) {

  /** The prompt's length when its tokens are not known. */
  public static final int UNKNOWN_TOKENS = -1;

  public RoutingRequest {
    if (promptTokens < UNKNOWN_TOKENS) {
      throw new IllegalArgumentException("promptTokens=" + promptTokens);
    }
  }

  /** Whether the prompt's tokens, and with them cache matches, are known. */
  public boolean promptKnown() {
    return promptTokens != UNKNOWN_TOKENS;
  }
}
