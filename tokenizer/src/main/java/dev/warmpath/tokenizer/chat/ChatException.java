package dev.warmpath.tokenizer.chat;

/** A request that cannot be rendered here; caught once, where rendering began. Immutable. */
public final class ChatException extends RuntimeException {
  private final ChatPrompt.Reason reason;

  public ChatException(ChatPrompt.Reason reason, String detail) {
    super(detail, null, false, false);
    this.reason = reason;
  }

  public static ChatException invalid(String detail) {
    return new ChatException(ChatPrompt.Reason.INVALID_REQUEST, detail);
  }

  public ChatPrompt refusal() {
    return new ChatPrompt.Refused(reason, String.valueOf(getMessage()));
  }
}
