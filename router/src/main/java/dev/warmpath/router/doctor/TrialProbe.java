package dev.warmpath.router.doctor;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.eventingest.EngineId;
import dev.warmpath.router.dispatch.Prompt;
import dev.warmpath.router.doctor.ReplicaFacts.Trial;
import dev.warmpath.router.doctor.StreamProbe.Held;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.proxy.Usage;
import dev.warmpath.router.proxy.UsageScanner;
import dev.warmpath.router.upstream.EngineClient.Answer;
import dev.warmpath.router.upstream.EngineHttp;
import dev.warmpath.tokenizer.ModelTokenizer;
import dev.warmpath.tokenizer.PromptResult;
import dev.warmpath.tokenizer.RequestKind;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * Sends one prompt twice to an engine, and looks what its events make of it in between. Blocks.
 *
 * <p>Thread-safe.
 */
final class TrialProbe {

  private static final int OK = 200;
  private static final int LEAST_TOKENS = 128;
  private static final int MOST_TOKENS = 8192;
  private static final int BLOCKS = 4;
  private static final int SHOWN_CHARS = 200;
  private static final int DEFAULT_BLOCK_TOKENS = 16;
  private static final Duration REQUEST_LIMIT = Duration.ofSeconds(60);

  private final EngineHttp http;
  private final StreamProbe streams;
  private final List<Replica> fleet;
  private final Duration patience;

  TrialProbe(EngineHttp http, StreamProbe streams, List<Replica> fleet, Duration patience) {
    this.http = http;
    this.streams = streams;
    this.fleet = fleet;
    this.patience = patience;
  }

  /** A trial of one rank of {@code replica} with {@code model}. */
  Trial run(
      Replica replica, int rank, HttpFacts facts, String model, @Nullable ModelTokenizer tokenizer)
      throws InterruptedException {
    EngineId engine = new EngineId(replica.name(), rank);
    TrialPrompt prompt = TrialPrompt.of(model, words(facts), tokenizer);
    long before = streams.batches(engine);
    try {
      Answer first = send(replica, rank, prompt);
      if (first.status() != OK) {
        return Trial.failed(engine, model, first.status(), text(first));
      }
      Held held = awaitEvents(replica, rank, prompt, before);
      EngineId heldBy = held.blocks() > 0 ? null : heldBy(replica, rank, prompt);
      Answer second = send(replica, rank, prompt);
      if (second.status() != OK) {
        return Trial.failed(engine, model, second.status(), text(second));
      }
      return new Trial(
          engine,
          model,
          null,
          OK,
          prompt.tokens(),
          usage(first),
          usage(second),
          streams.batches(engine) > before,
          held.blocks(),
          held.tokens(),
          heldBy);
    } catch (CompletionException | CancellationException e) {
      return Trial.failed(engine, model, 0, HttpProbe.problem(e, replica.baseUrl(), REQUEST_LIMIT));
    }
  }

  /** A stream that could not be connected brings nothing, nor does one that is not there. */
  private Held awaitEvents(Replica replica, int rank, TrialPrompt prompt, long before)
      throws InterruptedException {
    EngineId engine = new EngineId(replica.name(), rank);
    if (!streams.isConnected(engine)) {
      return Held.NOTHING;
    }
    return prompt.tokens() > 0
        ? streams.awaitStored(replica, rank, prompt.prompt(), patience)
        : streams.awaitBatch(engine, before, patience);
  }

  /** Enough for some blocks, and no more than the model takes. */
  private static int words(HttpFacts facts) {
    long block = facts.metrics().number("block_size", DEFAULT_BLOCK_TOKENS);
    int most = facts.maxModelTokens() == 0 ? MOST_TOKENS : facts.maxModelTokens() / 4;
    return (int) Math.min(Math.min(most, MOST_TOKENS), Math.max(LEAST_TOKENS, BLOCKS * block));
  }

  private Answer send(Replica replica, int rank, TrialPrompt prompt) {
    Map<String, String> headers =
        replica.ranks() > 1
            ? Map.of("x-data-parallel-rank", Integer.toString(replica.headerRank(rank)))
            : Map.of();
    return http.post(replica, prompt.path(), prompt.bytes(), headers, REQUEST_LIMIT).join();
  }

  private @Nullable EngineId heldBy(Replica asked, int askedRank, TrialPrompt prompt) {
    for (Replica other : fleet) {
      for (int rank = 0; rank < other.ranks(); rank++) {
        boolean same = other == asked && rank == askedRank;
        if (!same && streams.held(other, rank, prompt.prompt()).blocks() > 0) {
          return new EngineId(other.name(), rank);
        }
      }
    }
    return null;
  }

  private static Usage usage(Answer answer) {
    UsageScanner scanner = UsageScanner.of("application/json");
    scanner.feed(answer.body());
    return scanner.usage();
  }

  private static String text(Answer answer) {
    String body = new String(answer.body(), StandardCharsets.UTF_8).strip();
    String shown = body.length() > SHOWN_CHARS ? body.substring(0, SHOWN_CHARS) + "…" : body;
    return answer.status() + " " + shown;
  }

  /**
   * A request for one token whose prompt no engine has seen, of some hundred words that say
   * nothing.
   *
   * @param path the route that it is for
   * @param body its JSON
   * @param prompt as the router reads it
   */
  record TrialPrompt(String path, ObjectNode body, Prompt prompt) {

    private static final String[] WORDS = {
      "river", "stone", "window", "garden", "letter", "bridge", "market", "winter", "forest",
      "island"
    };

    /**
     * A chat if the model has a template, else a completion.
     *
     * @param words at least so many tokens
     * @param tokenizer null if the model has none here
     */
    static TrialPrompt of(String model, int words, @Nullable ModelTokenizer tokenizer) {
      String text = text(words);
      ObjectNode chat = request(model);
      chat.putArray("messages").addObject().put("role", "user").put("content", text);
      PromptResult read = tokenizer == null ? null : tokenizer.prompt(RequestKind.CHAT, chat, null);
      if (read instanceof PromptResult.Tokens) {
        return new TrialPrompt("/v1/chat/completions", chat, Prompt.of(read));
      }
      ObjectNode completion = request(model).put("prompt", text);
      return new TrialPrompt(
          "/v1/completions",
          completion,
          Prompt.of(
              tokenizer == null
                  ? null
                  : tokenizer.prompt(RequestKind.COMPLETION, completion, null)));
    }

    private static ObjectNode request(String model) {
      return JsonNodeFactory.instance
          .objectNode()
          .put("model", model)
          .put("max_tokens", 1)
          .put("temperature", 0);
    }

    private static String text(int words) {
      StringBuilder text = new StringBuilder("warmpath doctor " + UUID.randomUUID());
      for (int i = 0; i < words; i++) {
        text.append(' ').append(WORDS[i % WORDS.length]);
      }
      return text.toString();
    }

    byte[] bytes() {
      return body.toString().getBytes(StandardCharsets.UTF_8);
    }

    /** Length of the prompt; 0 if it is not known here. */
    int tokens() {
      return prompt.tokens() == null ? 0 : prompt.tokens().totalTokens();
    }
  }
}
