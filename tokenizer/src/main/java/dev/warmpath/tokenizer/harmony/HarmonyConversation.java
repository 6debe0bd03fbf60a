package dev.warmpath.tokenizer.harmony;

import dev.warmpath.tokenizer.body.FallbackCause;
import dev.warmpath.tokenizer.body.InexactPromptException;
import dev.warmpath.tokenizer.encode.SpecialPlaceholders;
import dev.warmpath.tokenizer.encode.TextEncoder;
import java.util.ArrayList;
import java.util.List;

/**
 * The messages of a prompt in order.
 *
 * <p>Confined to its thread.
 */
final class HarmonyConversation {
  /** Characters of a message besides its contents, about; only a buffer's first size. */
  private static final int HEADER_CHARS = 64;

  private final List<HarmonyMessage> messages = new ArrayList<>();

  void add(HarmonyMessage message) {
    messages.add(message);
  }

  /** The text of the prompt, for the assistant to go on. */
  String withSpecials() {
    StringBuilder out = new StringBuilder(expectedChars());
    int answer = lastAnswer();
    for (int i = 0; i < messages.size(); i++) {
      HarmonyMessage message = messages.get(i);
      if (i > answer || !message.isAnalysis()) {
        write(message, out);
      }
    }
    return out.append(HarmonyToken.START.placeholder()).append("assistant").toString();
  }

  private int expectedChars() {
    int chars = HEADER_CHARS;
    for (HarmonyMessage message : messages) {
      chars += HEADER_CHARS + message.contents().stream().mapToInt(String::length).sum();
    }
    return chars;
  }

  /** Thoughts that led to an answer are not shown again. */
  private int lastAnswer() {
    int last = messages.size() - 1;
    while (last >= 0 && !messages.get(last).isAnswer()) {
      last--;
    }
    return last;
  }

  private static void write(HarmonyMessage message, StringBuilder out) {
    append(message.header(), out.append(HarmonyToken.START.placeholder()));
    if (message.channel() != null) {
      out.append(HarmonyToken.CHANNEL.placeholder()).append(message.channel());
    }
    out.append(HarmonyToken.MESSAGE.placeholder());
    boolean first = true;
    for (String content : message.contents()) {
      append(content, first ? out : out.append(SpecialPlaceholders.CUT));
      first = false;
    }
    out.append(message.end().placeholder());
  }

  private static void append(String text, StringBuilder out) {
    if (!TextEncoder.isWellFormed(text)) {
      throw new InexactPromptException(
          FallbackCause.MALFORMED_TEXT, "the text holds half a surrogate pair");
    }
    out.append(text);
  }
}
