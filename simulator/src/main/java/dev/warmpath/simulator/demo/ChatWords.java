package dev.warmpath.simulator.demo;

import java.util.List;
import java.util.Random;

/**
 * Made-up text: the same random state gives the same words.
 *
 * <p>Confined to one thread.
 */
public final class ChatWords {

  private static final List<String> WORDS =
      List.of(
          "account", "agent", "answer", "before", "between", "blue", "branch", "build", "change",
          "check", "city", "client", "code", "cold", "count", "data", "date", "delay", "deploy",
          "early", "edge", "error", "event", "every", "field", "file", "first", "follow", "green",
          "group", "house", "index", "input", "invoice", "item", "key", "large", "late", "letter",
          "level", "light", "list", "load", "market", "meeting", "message", "minute", "model",
          "month", "morning", "name", "never", "node", "north", "number", "offer", "open", "order",
          "page", "part", "plan", "point", "price", "prompt", "queue", "read", "reason", "red",
          "report", "review", "river", "road", "router", "rule", "sample", "search", "second",
          "server", "short", "small", "south", "state", "step", "store", "street", "table", "team",
          "test", "ticket", "time", "token", "travel", "tree", "under", "value", "warm", "water",
          "week", "white", "window", "winter", "word", "write", "yellow", "zone");

  private static final int SHORTEST = 4; // characters of a word, with the space behind it

  private final Random random;

  public ChatWords(long seed) {
    random = new Random(seed);
  }

  /** Those of a tenant's system prompt, under one seed of a load. */
  public static ChatWords ofTenant(long seed, int tenant) {
    return new ChatWords(seed - 7_919L * (tenant + 1));
  }

  /** Those of the user of one chat, under one seed of a load. */
  public static ChatWords ofUser(long seed, int chat) {
    return new ChatWords(seed + 1_000_003L * (chat + 1));
  }

  /** So many characters of words in sentences; the last word may be cut. */
  public String chars(int chars) {
    return text(chars / SHORTEST + 1).substring(0, chars);
  }

  /** So many words, in sentences. */
  String text(int words) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < words; i++) {
      text.append(i == 0 ? "" : " ").append(WORDS.get(random.nextInt(WORDS.size())));
      text.append(i == words - 1 || random.nextInt(10) == 0 ? "." : "");
    }
    return text.toString();
  }
}
