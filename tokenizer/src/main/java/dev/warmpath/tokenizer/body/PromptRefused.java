package dev.warmpath.tokenizer.body;

/**
 * A prompt that cannot be known here; caught once, where a request's prompt is asked for. The
 * message is for people: it holds names of fields and lines of templates, nothing of the prompt.
 *
 * <p>Carries no stack trace: a refusal is an ordinary outcome.
 */
public final class PromptRefused extends IllegalArgumentException {

  private static final long serialVersionUID = 1;

  private final Reason reason;

  public PromptRefused(Reason reason, String detail) {
    super(detail);
    this.reason = reason;
  }

  /** For a field of the wrong type or value. */
  public static PromptRefused invalid(String detail) {
    return new PromptRefused(Reason.INVALID_REQUEST, detail);
  }

  public Reason reason() {
    return reason;
  }

  public String detail() {
    return String.valueOf(getMessage());
  }

  @Override
  public synchronized Throwable fillInStackTrace() {
    return this;
  }
}
