package dev.warmpath.tokenizer.chat;

/** A request that cannot be rendered here; caught once, where rendering began. Immutable. */
final class ChatException extends RuntimeException {
  private final ChatPrompt.Reason reason;

  ChatException(ChatPrompt.Reason reason, String detail) {
    super(detail, null, false, false);
    this.reason = reason;
  }

  static ChatException invalid(String detail) {
    return new ChatException(ChatPrompt.Reason.INVALID_REQUEST, detail);
  }

  ChatPrompt refusal() {
    return new ChatPrompt.Refused(reason, String.valueOf(getMessage()));
  }
}
