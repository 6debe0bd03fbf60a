package dev.warmpath.router;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.tokenizer.ModelTokenizer;
import dev.warmpath.tokenizer.PromptResult;
import dev.warmpath.tokenizer.RequestKind;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Requests like those that a router meets, without end: chats of 2 kB that share system prompts,
 * chats that grow to 16 and to 100 kB turn by turn, completions and messages; streamed or not. And
 * prompts that engines hold.
 *
 * <p>Thread-safe.
 */
final class StubRequests {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int PROMPTS = 256;
  private static final int SYSTEM_PROMPTS = 8;
  private static final int SYSTEM_WORDS = 250;
  private static final int USER_WORDS = 80;
  private static final int MIDDLE_BYTES = 16_000;
  private static final int LARGE_BYTES = 100_000;
  private static final int MIDDLE_CHATS = 4;
  private static final int TURN_WORDS = 300;

  /** Of so many requests one is a completion, and as many are messages. */
  private static final int KINDS = 8;

  /** Of so many requests one is the next turn of a chat that grows to 16 kB. */
  private static final int MIDDLE_EVERY = 16;

  /** Of so many requests one is the next turn of the chat that grows to 100 kB. */
  private static final int LARGE_EVERY = 128;

  private static final String[] SYLLABLES = {
    "ka", "lo", "mi", "ten", "ra", "so", "ver", "un", "ja", "pre", "dis", "ing", "ed", "er"
  };

  /** One request. */
  record Made(String path, String body) {}

  /** A chat whose next request has one more turn; begins anew when it is large enough. */
  private final class GrowingChat {
    private final int mostBytes;
    private ArrayNode messages = JSON.createArrayNode();
    private int bytes;

    GrowingChat(int mostBytes) {
      this.mostBytes = mostBytes;
    }

    ArrayNode nextTurn() {
      if (bytes > mostBytes || messages.isEmpty()) {
        messages = JSON.createArrayNode();
        bytes = 0;
        say("system", words(SYSTEM_WORDS));
      } else {
        say("assistant", words(TURN_WORDS));
      }
      say("user", words(TURN_WORDS));
      return messages.deepCopy();
    }

    private void say(String role, String text) {
      messages.addObject().put("role", role).put("content", text);
      bytes += text.length();
    }
  }

  private final String model;
  private final List<String> systems = new ArrayList<>();
  private final List<int[]> prompts = new ArrayList<>();
  private final List<GrowingChat> middle = new ArrayList<>();
  private final GrowingChat large = new GrowingChat(LARGE_BYTES);
  private final Random random = new Random(1);
  private int made;

  private StubRequests(String model) {
    this.model = model;
    for (int i = 0; i < SYSTEM_PROMPTS; i++) {
      systems.add(words(SYSTEM_WORDS));
    }
    for (int i = 0; i < MIDDLE_CHATS; i++) {
      middle.add(new GrowingChat(MIDDLE_BYTES));
    }
  }

  /** Requests for a model with the embedded tokenizer. */
  static StubRequests of(String model) {
    StubRequests made = new StubRequests(model);
    try (ModelTokenizer tokenizer = ModelTokenizer.embedded()) {
      for (int i = 0; i < PROMPTS; i++) {
        ObjectNode body = made.body().set("messages", made.chat(made.system(i)));
        if (tokenizer.prompt(RequestKind.CHAT, body, null) instanceof PromptResult.Tokens tokens) {
          made.prompts.add(tokens.sequences().get(0));
        }
      }
    }
    return made;
  }

  /** The next one. */
  synchronized Made next() {
    int number = made++;
    ObjectNode body = body();
    if (random.nextBoolean()) {
      body.put("stream", true);
    }
    if (number % LARGE_EVERY == LARGE_EVERY - 1) {
      return chat(body, large.nextTurn());
    }
    if (number % MIDDLE_EVERY == MIDDLE_EVERY - 1) {
      return chat(body, middle.get(number / MIDDLE_EVERY % MIDDLE_CHATS).nextTurn());
    }
    String system = system(random.nextInt(SYSTEM_PROMPTS));
    return switch (number % KINDS) {
      case 0 -> {
        body.put("prompt", system + " " + words(USER_WORDS));
        yield new Made("/v1/completions", body.toString());
      }
      case 1 -> {
        body.put("system", system);
        body.putArray("messages").addObject().put("role", "user").put("content", words(USER_WORDS));
        yield new Made("/v1/messages", body.toString());
      }
      default -> chat(body, chat(system));
    };
  }

  /** The token ids of prompts of chats, many of which begin alike. */
  List<int[]> prompts() {
    return prompts;
  }

  private static Made chat(ObjectNode body, ArrayNode messages) {
    if (body.has("stream")) {
      body.putObject("stream_options").put("include_usage", true);
    }
    body.set("messages", messages);
    return new Made("/v1/chat/completions", body.toString());
  }

  private ArrayNode chat(String system) {
    ArrayNode messages = JSON.createArrayNode();
    messages.addObject().put("role", "system").put("content", system);
    messages.addObject().put("role", "user").put("content", words(USER_WORDS));
    return messages;
  }

  private ObjectNode body() {
    return JSON.createObjectNode().put("model", model).put("max_tokens", 16);
  }

  private String system(int number) {
    return systems.get(number % SYSTEM_PROMPTS);
  }

  private String words(int number) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < number; i++) {
      text.append(i == 0 ? "" : " ");
      for (int syllables = 1 + random.nextInt(3); syllables > 0; syllables--) {
        text.append(SYLLABLES[random.nextInt(SYLLABLES.length)]);
      }
    }
    return text.toString();
  }
}
