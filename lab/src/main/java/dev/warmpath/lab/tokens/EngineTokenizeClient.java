package dev.warmpath.lab.tokens;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.router.tokenize.TokenizeCall;
import dev.warmpath.tokenizer.RequestKind;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

/**
 * Asks a running engine for the tokens of requests: its render routes, and where those are closed
 * {@code /tokenize}, which knows chats and completions, but not all that changes their prompts.
 *
 * <p>Confined to its thread.
 */
final class EngineTokenizeClient {
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
      super(path(kind) + "/render is closed, and /tokenize cuts some otherwise than serving them");
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
      HttpResponse<String> rendered = post(path(kind) + "/render", MAPPER.writeValueAsBytes(body));
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
