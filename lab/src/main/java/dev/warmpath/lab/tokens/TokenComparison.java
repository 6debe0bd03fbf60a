package dev.warmpath.lab.tokens;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.lab.tokens.Oddities.OddChats;
import dev.warmpath.lab.tokens.Oddities.OddMessages;
import dev.warmpath.lab.tokens.Oddities.OddResponses;
import dev.warmpath.router.tokenize.TokenizeCall;
import dev.warmpath.simulator.cli.RenderTotals;
import dev.warmpath.tokenizer.ModelTokenizer;
import dev.warmpath.tokenizer.PromptResult;
import dev.warmpath.tokenizer.PromptResult.Inexact;
import dev.warmpath.tokenizer.PromptResult.Tokens;
import dev.warmpath.tokenizer.RequestKind;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Makes odd requests and compares our tokens with the engine's.
 *
 * <p>A request that the engine refuses is none that could be wrong, and counts apart. Made for one
 * run.
 *
 * <p>Confined to its thread.
 */
final class TokenComparison {

  private final ModelTokenizer tokenizer;
  private final EngineTokenizeClient engine;
  private final String model;
  private final Consumer<String> findings;
  private RenderTotals totals = RenderTotals.NONE;
  private int engineRefused;
  private int bothRefused;
  private final Map<RequestKind, Integer> closed = new EnumMap<>(RequestKind.class);

  /**
   * What came out.
   *
   * @param totals of the requests that the engine has tokens for
   * @param bothRefused requests that the engine refuses and that are inexact here
   * @param engineRefused requests that have tokens here and none on the engine
   * @param closed requests that no open route of the engine takes as serving them does
   */
  record Result(RenderTotals totals, int bothRefused, int engineRefused, int closed) {

    /** As one JSON object. */
    String json() {
      int total = totals.total() + bothRefused + engineRefused + closed;
      return "{\"total\":%d,\"exact\":%d,\"wrong\":%d,\"inexact\":%d,\"bothRefused\":%d,\"engineRefused\":%d,\"closed\":%d}"
          .formatted(
              total,
              totals.exact(),
              totals.wrong(),
              totals.inexact(),
              bothRefused,
              engineRefused,
              closed);
    }
  }

  /** Compares with this engine, which serves {@code model}; differences are told. */
  TokenComparison(
      ModelTokenizer tokenizer,
      EngineTokenizeClient engine,
      String model,
      Consumer<String> findings) {
    this.tokenizer = tokenizer;
    this.engine = engine;
    this.model = model;
    this.findings = findings;
  }

  /** Compares so many requests of these kinds in turn, the same for the same seed. */
  Result run(int requests, long seed, List<RequestKind> kinds) throws IOException {
    for (int i = 0; i < requests; i++) {
      RequestKind kind = kinds.get(i % kinds.size());
      try {
        compare(kind, seed + i);
      } catch (EngineTokenizeClient.ClosedException e) {
        if (closed.merge(kind, 1, Integer::sum) == 1) {
          findings.accept(kind + ": not compared: " + e.getMessage());
        }
      }
    }
    int allClosed = closed.values().stream().mapToInt(Integer::intValue).sum();
    return new Result(totals, bothRefused, engineRefused, allClosed);
  }

  private void compare(RequestKind kind, long seed) throws IOException {
    ObjectNode body = body(kind, new Random(seed));
    body.put("model", model);
    Optional<int[]> theirs = engine.ask(kind, body);
    PromptResult ours = tokenizer.prompt(kind, body, null);
    if (theirs.isPresent()) {
      totals = totals.plus(compare(kind + " " + seed, ours, theirs.get(), body));
    } else if (ours instanceof Tokens) {
      engineRefused++;
      findings.accept(kind + " " + seed + ": refused by the engine alone");
    } else {
      bothRefused++;
    }
  }

  /** The request of a kind that this seed makes. */
  static ObjectNode body(RequestKind kind, Random random) {
    Oddities odd = new Oddities(random);
    return switch (kind) {
      case CHAT -> new OddChats(odd).body();
      case MESSAGES -> new OddMessages(odd).body();
      case RESPONSES -> new OddResponses(odd).body();
      case COMPLETION -> completion(odd);
    };
  }

  private static ObjectNode completion(Oddities odd) {
    ObjectNode body = odd.schema().removeAll();
    body.put("prompt", odd.text() + "x");
    if (odd.chance(0.3)) {
      body.put("add_special_tokens", odd.chance(0.5));
    }
    return body;
  }

  private RenderTotals compare(String where, PromptResult ours, int[] engineIds, ObjectNode body) {
    if (ours instanceof Inexact inexact) {
      findings.accept(
          "%s: inexact: %s: %s".formatted(where, inexact.cause().label(), inexact.detail()));
      return new RenderTotals(0, 0, 1);
    }
    int[] ids = ((Tokens) ours).sequences().get(0);
    int differs = Arrays.mismatch(ids, engineIds);
    if (differs < 0) {
      return new RenderTotals(1, 0, 0);
    }
    findings.accept("%s: wrong from token %d on".formatted(where, differs));
    findings.accept("  body:   " + body);
    findings.accept("  here:   " + around(ids, differs));
    findings.accept("  engine: " + around(engineIds, differs));
    return new RenderTotals(0, 1, 0);
  }

  /** The text around a token; the requests are made up, so that it may be shown. */
  private String around(int[] ids, int at) {
    int from = Math.max(0, at - 10);
    int to = Math.min(ids.length, at + 20);
    return tokenizer.decode(Arrays.copyOfRange(ids, from, Math.max(from, to)));
  }

  /**
   * Asks a running engine for the tokens of requests: its render routes, and where those are closed
   * {@code /tokenize}, which knows chats and completions, but not all that changes their prompts.
   *
   * <p>Confined to its thread.
   */
  static final class EngineTokenizeClient {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int OK = 200;
    private static final int FORBIDDEN = 403;
    private static final int NOT_FOUND = 404;
    private static final int METHOD_NOT_ALLOWED = 405;

    private final HttpClient client;
    private final URI engine;
    private final Set<RequestKind> closed = EnumSet.noneOf(RequestKind.class);

    /** A request whose tokens, as serving it would have them, the engine tells nobody. */
    static final class ClosedException extends IOException {
      private static final long serialVersionUID = 1;

      ClosedException(RequestKind kind) {
        super(
            path(kind) + "/render is closed, and /tokenize cuts some otherwise than serving them");
      }
    }

    /** Of the engine at this URL, without path. */
    EngineTokenizeClient(HttpClient client, URI engine) {
      this.client = client;
      this.engine = engine;
    }

    /** The path that requests of this kind are sent to. */
    static String path(RequestKind kind) {
      return switch (kind) {
        case CHAT -> "/v1/chat/completions";
        case COMPLETION -> "/v1/completions";
        case MESSAGES -> "/v1/messages";
        case RESPONSES -> "/v1/responses";
      };
    }

    /**
     * The engine's tokens; empty if it refuses the request.
     *
     * @throws ClosedException when it has no route for that
     * @throws IOException when it does not answer, or not as engines do
     */
    Optional<int[]> ask(RequestKind kind, ObjectNode body) throws IOException {
      if (!closed.contains(kind)) {
        HttpResponse<String> rendered =
            post(path(kind) + "/render", MAPPER.writeValueAsBytes(body));
        if (!isClosed(rendered.statusCode())) {
          return tokens(rendered);
        }
        closed.add(kind);
      }
      if (!TokenizeCall.fits(kind, body)) {
        throw new ClosedException(kind);
      }
      Optional<int[]> cut = tokens(post(TokenizeCall.PATH, TokenizeCall.body(body)));
      if (cut.isPresent() && !TokenizeCall.isTrusted(kind, cut.get())) {
        throw new ClosedException(kind);
      }
      return cut;
    }

    private static boolean isClosed(int status) {
      return status == FORBIDDEN || status == NOT_FOUND || status == METHOD_NOT_ALLOWED;
    }

    private HttpResponse<String> post(String path, byte[] body) throws IOException {
      HttpRequest request =
          HttpRequest.newBuilder(engine.resolve(path))
              .timeout(PATIENCE)
              .header("Content-Type", "application/json")
              .POST(HttpRequest.BodyPublishers.ofByteArray(body))
              .build();
      try {
        return client.send(request, HttpResponse.BodyHandlers.ofString());
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IOException("interrupted", e);
      }
    }

    private static Optional<int[]> tokens(HttpResponse<String> response) throws IOException {
      if (response.statusCode() >= 400) {
        return Optional.empty();
      }
      JsonNode answer = MAPPER.readTree(response.body());
      JsonNode prompt = answer.isArray() ? answer.path(0) : answer;
      JsonNode ids = prompt.has("token_ids") ? prompt.path("token_ids") : prompt.path("tokens");
      if (response.statusCode() != OK || !ids.isArray()) {
        throw new IOException("status " + response.statusCode() + " without token ids");
      }
      int[] tokens = new int[ids.size()];
      for (int i = 0; i < tokens.length; i++) {
        tokens[i] = ids.get(i).asInt();
      }
      return Optional.of(tokens);
    }
  }
}
