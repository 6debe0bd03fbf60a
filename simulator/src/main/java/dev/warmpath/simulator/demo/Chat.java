package dev.warmpath.simulator.demo;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One chat on its way: what was said so far.
 *
 * <p>Confined to one thread at a time.
 */
final class Chat {

  private final Identity identity;
  private final ChatWords words;
  private final List<Turn> turns;
  private final ArrayNode messages = JsonNodeFactory.instance.arrayNode();
  private int turn;

  /**
   * What all requests of a chat have in common.
   *
   * @param user the field of that name; null to leave it out
   */
  record Identity(String model, @Nullable String user, String system) {}

  /**
   * One turn.
   *
   * @param userWords words that the user says
   * @param answerTokens limit of the answer, in tokens
   * @param images URLs of those that the user shows before the words
   */
  record Turn(int userWords, int answerTokens, List<String> images) {

    Turn {
      images = List.copyOf(images);
    }

    /** One without images. */
    Turn(int userWords, int answerTokens) {
      this(userWords, answerTokens, List.of());
    }
  }

  /**
   * @param words of the user
   */
  Chat(Identity identity, ChatWords words, List<Turn> turns) {
    this.identity = identity;
    this.words = words;
    this.turns = turns;
    say("system", identity.system);
  }

  /** The body of the next turn's request. */
  String nextTurn() {
    Turn next = turns.get(turn);
    String text = words.text(next.userWords);
    if (next.images.isEmpty()) {
      say("user", text);
    } else {
      show(next.images, text);
    }
    ObjectNode body = JsonNodeFactory.instance.objectNode();
    body.put("model", identity.model).put("stream", true).put("max_tokens", next.answerTokens);
    body.putObject("stream_options").put("include_usage", true);
    if (identity.user != null) {
      body.put("user", identity.user);
    }
    body.set("messages", messages);
    return body.toString();
  }

  /** Takes the answer to the last turn. */
  void answered(String text) {
    say("assistant", text);
    turn++;
  }

  boolean over() {
    return turn >= turns.size();
  }

  private void show(List<String> images, String text) {
    ArrayNode parts = messages.addObject().put("role", "user").putArray("content");
    for (String image : images) {
      parts.addObject().put("type", "image_url").putObject("image_url").put("url", image);
    }
    parts.addObject().put("type", "text").put("text", text);
  }

  private void say(String role, String text) {
    messages.addObject().put("role", role).put("content", text);
  }
}
