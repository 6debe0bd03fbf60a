package dev.warmpath.router.prompt;

import dev.warmpath.router.fleet.dispatch.PreparedRequest;
import dev.warmpath.router.fleet.dispatch.RoutingHints;
import dev.warmpath.router.fleet.match.Prompt;
import dev.warmpath.tokenizer.PromptResult;
import dev.warmpath.tokenizer.body.FallbackCause;
import org.jspecify.annotations.Nullable;

/**
 * What the router understood of a request's body.
 *
 * <p>Immutable.
 *
 * @param model the model it names, or null
 * @param prompt its prompt, or why it is not known; null where the path has none
 * @param sessionKey what the body calls its session or user, or null
 * @param streamed whether it asks for a stream of events
 * @param estimatedTokens how long its prompt may be, for when its tokens are not known
 * @param previousResponse the stored response that it continues, or null
 * @param readable false for {@link #UNREADABLE} alone
 */
public record ReadRequest(
    @Nullable String model,
    @Nullable PromptResult prompt,
    @Nullable String sessionKey,
    boolean streamed,
    int estimatedTokens,
    @Nullable String previousResponse,
    boolean readable) {

  /** Not even the model is known, for lack of time or by a bug: the request cannot be routed. */
  static final ReadRequest UNREADABLE = new ReadRequest(null, null, null, false, 0, null, false);

  /** Why the prompt's tokens are not known; null if they are, or the path has none. */
  public @Nullable FallbackCause fallback() {
    return prompt instanceof PromptResult.Inexact inexact ? inexact.cause() : null;
  }

  /** The same with a prompt that was found out elsewhere. */
  ReadRequest with(PromptResult found) {
    return new ReadRequest(
        model, found, sessionKey, streamed, estimatedTokens, previousResponse, true);
  }

  /** The same for an engine that computes nothing for it. */
  public ReadRequest withoutWork() {
    return new ReadRequest(model, prompt, sessionKey, streamed, 0, previousResponse, readable);
  }

  /**
   * The request as it is dispatched, with its prompt hashed.
   *
   * @param hints what its headers say, which goes before the body
   */
  public PreparedRequest prepare(RoutingHints hints) {
    return new PreparedRequest(
        model,
        Prompt.of(prompt),
        hints.session() == null ? sessionKey : hints.session(),
        streamed,
        estimatedTokens,
        hints.priority(),
        hints.client());
  }
}
