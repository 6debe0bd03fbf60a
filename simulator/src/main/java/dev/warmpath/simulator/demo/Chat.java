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
   */
  record Turn(int userWords, int answerTokens) {}

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
    say("user", words.text(next.userWords));
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

  private void say(String role, String text) {
    messages.addObject().put("role", role).put("content", text);
  }
}
