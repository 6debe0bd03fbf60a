package dev.warmpath.simulator.load;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * One chat on its way: what was said so far.
 *
 * <p>Confined to one thread at a time.
 */
final class Chat {

  private final ChatLoad load;
  private final int number;
  private final int length;
  private final ChatWords words;
  private final ArrayNode messages = JsonNodeFactory.instance.arrayNode();
  private int turn;

  Chat(ChatLoad load, int number, int length) {
    this.load = load;
    this.number = number;
    this.length = length;
    words = new ChatWords(load.seed() + 1_000_003L * (number + 1));
    int tenant = number % load.tenants();
    ChatWords system = new ChatWords(load.seed() - 7_919L * (tenant + 1));
    say("system", "Tenant " + tenant + ". " + system.text(load.systemWords()));
  }

  /** The body of the next turn's request. */
  String nextTurn() {
    say("user", words.text(load.userWords()));
    ObjectNode body = JsonNodeFactory.instance.objectNode();
    body.put("model", load.model()).put("stream", true).put("max_tokens", load.answerTokens());
    body.putObject("stream_options").put("include_usage", true);
    body.put("user", "chat-" + number);
    body.set("messages", messages);
    return body.toString();
  }

  /** Takes the answer to the last turn. */
  void answered(String text) {
    say("assistant", text);
    turn++;
  }

  boolean over() {
    return turn >= length;
  }

  private void say(String role, String text) {
    messages.addObject().put("role", role).put("content", text);
  }
}
