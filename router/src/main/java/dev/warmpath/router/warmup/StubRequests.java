package dev.warmpath.router.warmup;

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
 * Requests like those of chats: a few system prompts, a few kilobytes, streamed or not, and now and
 * then a completion; and their prompts.
 *
 * <p>Immutable.
 */
final class StubRequests {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int REQUESTS = 256;
  private static final int SYSTEM_PROMPTS = 8;
  private static final int SYSTEM_WORDS = 250;
  private static final int USER_WORDS = 80;
  private static final int KINDS = 4;
  private static final String[] SYLLABLES = {
    "ka", "lo", "mi", "ten", "ra", "so", "ver", "un", "ja", "pre", "dis", "ing", "ed", "er"
  };

  /** One request. */
  record Made(String path, String body) {}

  private final List<Made> all = new ArrayList<>();
  private final List<int[]> prompts = new ArrayList<>();
  private final Random random = new Random(1);

  private StubRequests() {}

  /** Requests for a model with the embedded tokenizer. */
  static StubRequests of(String model) {
    StubRequests made = new StubRequests();
    List<String> systems = new ArrayList<>();
    for (int i = 0; i < SYSTEM_PROMPTS; i++) {
      systems.add(made.words(SYSTEM_WORDS));
    }
    try (ModelTokenizer tokenizer = ModelTokenizer.embedded()) {
      for (int i = 0; i < REQUESTS; i++) {
        made.add(model, i, systems.get(i % SYSTEM_PROMPTS), tokenizer);
      }
    }
    return made;
  }

  private void add(String model, int index, String system, ModelTokenizer tokenizer) {
    ObjectNode body = JSON.createObjectNode().put("model", model).put("max_tokens", 16);
    if (random.nextBoolean()) {
      body.put("stream", true).putObject("stream_options").put("include_usage", true);
    }
    boolean completes = index % KINDS == 0;
    if (completes) {
      body.put("prompt", system + " " + words(USER_WORDS));
    } else {
      ArrayNode messages = body.putArray("messages");
      messages.addObject().put("role", "system").put("content", system);
      messages.addObject().put("role", "user").put("content", words(USER_WORDS));
    }
    String path = completes ? "/v1/completions" : "/v1/chat/completions";
    all.add(new Made(path, body.toString()));
    RequestKind kind = completes ? RequestKind.COMPLETION : RequestKind.CHAT;
    if (tokenizer.prompt(kind, body, null) instanceof PromptResult.Tokens tokens) {
      prompts.add(tokens.sequences().get(0));
    }
  }

  List<Made> all() {
    return all;
  }

  /** The token ids of their prompts. */
  List<int[]> prompts() {
    return prompts;
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
