package dev.warmpath.tokenizer.body;

/**
 * A prompt whose tokens cannot be known here, so that its request is routed by load. {@code
 * ModelTokenizer} turns it into {@code PromptResult.Inexact}. The message is for people: it holds
 * names of fields and lines of templates, nothing of the prompt.
 *
 * <p>Carries no stack trace: it is an ordinary outcome.
 */
public final class InexactPromptException extends IllegalArgumentException {

  private static final long serialVersionUID = 1;

  private final FallbackCause fallbackCause;

  public InexactPromptException(FallbackCause fallbackCause, String detail) {
    super(detail);
    this.fallbackCause = fallbackCause;
  }

  /** For a field of the wrong type or value. */
  public static InexactPromptException invalid(String detail) {
    return new InexactPromptException(FallbackCause.INVALID_REQUEST, detail);
  }

  public FallbackCause fallbackCause() {
    return fallbackCause;
  }

  public String detail() {
    return String.valueOf(getMessage());
  }

  @Override
  public synchronized Throwable fillInStackTrace() {
    return this;
  }
}
