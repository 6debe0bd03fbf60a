package dev.warmpath.tokenizer.chat;

import dev.warmpath.tokenizer.body.FallbackCause;
import dev.warmpath.tokenizer.body.InexactPromptException;
import dev.warmpath.tokenizer.template.syntax.Whitespace;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Leaves the last message open, for the model to go on with it: a mark is put behind its text, and
 * the output ends where the mark comes out.
 *
 * <p>Confined to its thread.
 */
final class FinalMessage {
  private static final String MARK = "CONTINUE_FINAL_MESSAGE_TAG ";
  private static final String BARE_MARK = MARK.strip();

  private final String finalText;

  private FinalMessage(String finalText) {
    this.finalText = finalText;
  }

  /** Marks the last message. */
  static FinalMessage mark(List<Map<String, @Nullable Object>> messages) {
    Map<String, @Nullable Object> last = messages.get(messages.size() - 1);
    Object content = last.get("content");
    if (content instanceof String text) {
      last.put("content", text + MARK);
      return new FinalMessage(text);
    }
    if (content instanceof List<?> parts) {
      for (int i = parts.size() - 1; i >= 0; i--) {
        if (parts.get(i) instanceof Map<?, ?> part && part.get("text") instanceof String text) {
          @SuppressWarnings("unchecked")
          Map<String, Object> marked = (Map<String, Object>) part;
          marked.put("text", text + MARK);
          return new FinalMessage(text);
        }
      }
    }
    throw InexactPromptException.invalid("continue_final_message without a text to continue");
  }

  /** The output up to the mark. */
  String cut(String rendered) {
    int at = rendered.lastIndexOf(BARE_MARK);
    if (at < 0 || !rendered.contains(Whitespace.strip(finalText))) {
      throw new InexactPromptException(
          FallbackCause.TEMPLATE_ERROR, "the template changes the message to continue");
    }
    String before = rendered.substring(0, at);
    return rendered.startsWith(MARK, at) ? before : Whitespace.stripEnd(before);
  }
}
