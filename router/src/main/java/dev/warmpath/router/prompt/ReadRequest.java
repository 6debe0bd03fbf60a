package dev.warmpath.router.prompt;

import dev.warmpath.router.fleet.dispatch.PreparedRequest;
import dev.warmpath.router.fleet.dispatch.RequestHead;
import dev.warmpath.router.fleet.match.Prompt;
import dev.warmpath.tokenizer.PromptResult;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What the router understood of a request's body.
 *
 * <p>Immutable.
 *
 * @param model the model it names, or null
 * @param prompt its prompt, or null for the reason in {@code unread}
 * @param sessionKey what the body calls its session or user, or null
 * @param streamed whether it asks for a stream of events
 * @param estimatedTokens how long its prompt may be, for when its tokens are not known
 * @param previousResponse the stored response that it continues, or null
 * @param unread why there is no prompt, as a metric label; null when there is one
 */
public record ReadRequest(
    @Nullable String model,
    @Nullable PromptResult prompt,
    @Nullable String sessionKey,
    boolean streamed,
    int estimatedTokens,
    @Nullable String previousResponse,
    @Nullable Unread unread) {

  /** Why a prompt was not read. */
  public enum Unread {
    /** The body is not a JSON object, or too deep. */
    BAD_JSON,
    /** No tokenizer is configured for the model. */
    NO_TOKENIZER,
    /** The model's tokenizer is being loaded. */
    LOADING,
    /** The model's tokenizer could not be loaded. */
    NOT_LOADED,
    /** The model's tokenizer was found to differ from an engine's. */
    QUARANTINED,
    /** The body is longer than a tokenizer thread may be busy with. */
    TOO_LONG,
    /** Too many prompts wait for a tokenizer thread. */
    QUEUE_FULL,
    /** Tokenizing took too long. */
    DEADLINE,
    /** The tokenizer failed, which is a bug of ours. */
    FAILURE,
    /** Not even the model was found out, for lack of time or by a bug: it cannot be routed. */
    UNREADABLE;

    /** The name in metrics and answers: lower case with underscores. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * The request as it is dispatched, with its prompt hashed.
   *
   * @param head what its headers say, which goes before the body
   */
  public PreparedRequest prepare(RequestHead head) {
    return new PreparedRequest(
        model,
        Prompt.of(prompt),
        head.session() == null ? sessionKey : head.session(),
        streamed,
        estimatedTokens,
        head.priority(),
        head.client());
  }

  /** The same with a prompt that was found out elsewhere. */
  ReadRequest with(PromptResult found) {
    return new ReadRequest(
        model, found, sessionKey, streamed, estimatedTokens, previousResponse, null);
  }

  /** The same for an engine that computes nothing for it. */
  public ReadRequest withoutWork() {
    return new ReadRequest(model, prompt, sessionKey, streamed, 0, previousResponse, unread);
  }
}
