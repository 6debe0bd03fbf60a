package dev.warmpath.lab.tokens;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * A chat that grows: a system message, then users and assistants in turn, all texts new.
 *
 * <p>Confined to one thread.
 */
final class GrowingChat {

  private static final ObjectMapper MAPPER = new ObjectMapper();

  private final ObjectNode body = MAPPER.createObjectNode().put("model", "m");
  private final ArrayNode messages = body.putArray("messages");
  private final TextStream texts;
  private int chars;

  GrowingChat(TextStream texts) {
    this.texts = texts;
  }

  /** Adds messages of {@code each} characters until there are {@code count}. */
  GrowingChat growTo(int count, int each) {
    while (messages.size() < count) {
      add(each);
    }
    return this;
  }

  /**
   * Adds messages of {@code each} characters until there are so many characters; ends by a user.
   */
  GrowingChat growToChars(int total, int each) {
    while (chars < total || messages.size() % 2 == 1) {
      add(each);
    }
    return this;
  }

  /** An assistant's answer and what the user says next. */
  GrowingChat turn(int each) {
    add(each);
    add(each);
    return this;
  }

  /** Characters of all messages. */
  int chars() {
    return chars;
  }

  byte[] json() {
    try {
      return MAPPER.writeValueAsBytes(body);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }

  private void add(int each) {
    String text = texts.next(each);
    chars += text.length();
    String role = messages.isEmpty() ? "system" : messages.size() % 2 == 1 ? "user" : "assistant";
    messages.addObject().put("role", role).put("content", text);
  }
}
