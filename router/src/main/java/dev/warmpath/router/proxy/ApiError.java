package dev.warmpath.router.proxy;

import static java.util.Locale.ROOT;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.router.dispatch.DispatchResult;
import dev.warmpath.router.logs.Decision;
import dev.warmpath.router.security.ClientAccount;
import dev.warmpath.router.security.ClientAccount.Verdict;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.vertx.core.http.HttpServerResponse;
import java.io.IOException;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * An error that the router answers itself, in the form of the API that was asked. A prompt that
 * cannot be rendered is none: its request is routed by load, and the engine answers.
 *
 * <p>Immutable.
 *
 * @param status HTTP status
 * @param type OpenAI's kind of error
 * @param code what happened, in lower case with underscores; also a metric label
 * @param message for people; holds nothing of the prompt
 * @param retrySeconds when it may be tried again; 0 if that is not said
 */
public record ApiError(int status, String type, String code, String message, int retrySeconds) {

  private static final int SOON = 1;

  private ApiError(int status, String type, String code, String message) {
    this(status, type, code, message, 0);
  }

  /** Whose form an error has. */
  public enum Form {
    OPENAI {
      @Override
      String event(ApiError error, int number) {
        return "data: " + openAi(error) + "\n\n";
      }
    },
    /** As OpenAI's; in a stream an event with a type. */
    RESPONSES {
      // Documented are the fields at the top; OpenAI sends, and its clients raise, "error".
      @Override
      String event(ApiError error, int number) {
        ObjectNode event = openAi(error).put("type", "error").put("sequence_number", number);
        event.put("code", error.code).put("message", error.message).putNull("param");
        return "event: error\ndata: " + event + "\n\n";
      }
    },
    ANTHROPIC {
      @Override
      ObjectNode json(ApiError error) {
        ObjectNode root = JSON.createObjectNode().put("type", "error");
        root.putObject("error").put("type", anthropicType(error)).put("message", error.message);
        return root;
      }

      @Override
      String event(ApiError error, int number) {
        return "event: error\ndata: " + json(error) + "\n\n";
      }
    };

    /** The form that clients of a path expect. */
    public static Form of(@Nullable Route route) {
      if (route == null) {
        return OPENAI;
      }
      if (route.isAnthropic()) {
        return ANTHROPIC;
      }
      return route.isResponses() ? RESPONSES : OPENAI;
    }

    ObjectNode json(ApiError error) {
      return openAi(error);
    }

    abstract String event(ApiError error, int number);

    private static ObjectNode openAi(ApiError error) {
      ObjectNode root = JSON.createObjectNode();
      ObjectNode inner = root.putObject("error").put("message", error.message);
      inner.put("type", error.type).putNull("param").put("code", error.code);
      return root;
    }
  }

  private static final ObjectMapper JSON = new ObjectMapper();

  static ApiError badRequest() {
    String message = "The request can be understood in more than one way.";
    return new ApiError(400, "invalid_request_error", "bad_request", message);
  }

  /** What the request says of transfers between engines could not be left out. */
  static ApiError noObject() {
    String message = "The request body is no JSON object in UTF-8.";
    return new ApiError(400, "invalid_request_error", "bad_json", message);
  }

  /** For a head that the HTTP layer could not read, and why. */
  static ApiError unreadable(@Nullable Throwable cause, int headerBytes) {
    if (cause instanceof TooLongHttpLineException) {
      String message = "The request's first line is longer than " + headerBytes + " bytes.";
      return new ApiError(414, "invalid_request_error", "uri_too_long", message);
    } else if (cause instanceof TooLongHttpHeaderException) {
      String message = "The request's headers are longer than " + headerBytes + " bytes.";
      return new ApiError(431, "invalid_request_error", "headers_too_large", message);
    }
    if (cause instanceof ClientConnections.VersionException) {
      String message = "The version of HTTP is neither 1.0, 1.1 nor 2.";
      return new ApiError(505, "invalid_request_error", "http_version_unsupported", message);
    }
    String message = "The request is not valid HTTP.";
    return new ApiError(400, "invalid_request_error", "bad_request", message);
  }

  static ApiError expectationFailed() {
    String message = "Of the header `Expect` only `100-continue` is understood.";
    return new ApiError(417, "invalid_request_error", "expectation_failed", message);
  }

  public static ApiError notFound(String what) {
    return new ApiError(404, "invalid_request_error", "not_found", what);
  }

  /** For a request that no replica takes. */
  public static ApiError noCandidate(DispatchResult.Cause cause, @Nullable String model) {
    return switch (cause) {
      case UNKNOWN_MODEL -> model == null ? noReplica(cause) : unknownModel(model);
      case FAILURE -> internal();
      case QUEUE_FULL, FULL -> overloaded("all replicas are full, and so is the queue");
      default -> noReplica(cause);
    };
  }

  private static ApiError noReplica(DispatchResult.Cause cause) {
    return unavailable("no_replica", "No replica can take the request: " + cause.label());
  }

  /** To try again would not help. */
  static ApiError unsplittable() {
    String message =
        "The engines here serve a request only in pairs, and it asks for several answers or prompts,"
            + " for its prompt's own tokens, or for a stored response: it needs a replica of"
            + " `role: both`.";
    return new ApiError(400, "invalid_request_error", "not_splittable", message);
  }

  static ApiError unknownModel(String model) {
    String message = "No replica serves the model `" + Decision.shown(model) + "`.";
    return new ApiError(404, "invalid_request_error", "model_not_found", message);
  }

  /** Whether there is one of another client's is not told. */
  static ApiError responseNotFound() {
    String message = "This API key has no such response here.";
    return new ApiError(404, "invalid_request_error", "response_not_found", message);
  }

  public static ApiError methodNotAllowed(String allowed) {
    String message = "This path takes " + allowed + " only.";
    return new ApiError(405, "invalid_request_error", "method_not_allowed", message);
  }

  static ApiError upgradeRequired() {
    String message = "This path takes WebSocket connections only, over HTTP/1.1.";
    return new ApiError(426, "invalid_request_error", "upgrade_required", message);
  }

  /** For agents that try a WebSocket first, and post when they get this. */
  public static ApiError postRequired() {
    String message = "This path takes no WebSocket connections; post the request over HTTP.";
    return new ApiError(426, "invalid_request_error", "websocket_unsupported", message);
  }

  public static ApiError unauthorized() {
    String message =
        "A valid API key is needed, as `Authorization: Bearer KEY` or `x-api-key: KEY`.";
    return new ApiError(401, "invalid_request_error", "invalid_api_key", message);
  }

  /** The client's key does not do for the request. */
  public static ApiError of(ClientAccount.Answer refusal) {
    String limit = refusal.verdict() == Verdict.TOO_MANY_TOKENS ? "tokens" : "requests";
    if (refusal.verdict() == Verdict.MODEL_FORBIDDEN) {
      String message = "The request names no model that this API key may use.";
      return new ApiError(403, "invalid_request_error", "model_not_allowed", message);
    }
    String message = "This API key has used its " + limit + " of the last minute.";
    return new ApiError(429, limit, "rate_limit_exceeded", message, refusal.retrySeconds());
  }

  /** For a body in another coding; the answer's header names those that are understood. */
  public static ApiError unsupportedCoding() {
    String message =
        "Of the header `Content-Encoding` these are understood, one at a time: "
            + ContentCoding.understood();
    return new ApiError(415, "invalid_request_error", "unsupported_content_encoding", message);
  }

  static ApiError undecodable(ContentCoding coding) {
    String message =
        "The request body cannot be decoded as " + coding.name().toLowerCase(ROOT) + ".";
    return new ApiError(400, "invalid_request_error", "bad_content_encoding", message);
  }

  public static ApiError tooLarge(int limitBytes) {
    String message = "The request body is larger than " + limitBytes + " bytes.";
    return new ApiError(413, "invalid_request_error", "body_too_large", message);
  }

  public static ApiError bodyTimeout() {
    return new ApiError(408, "invalid_request_error", "body_timeout", "The body did not come.");
  }

  static ApiError unavailable(String code, String message) {
    return new ApiError(503, "service_unavailable_error", code, message, SOON);
  }

  /** The request waited for as long as it may. */
  static ApiError queueTimeout() {
    return unavailable("queue_timeout", "No replica had room for it in time.");
  }

  /** The request prefers an engine that has some of its prompt, and none has. */
  public static ApiError notCached() {
    String message = "No replica has a part of the prompt in its cache.";
    return new ApiError(412, "invalid_request_error", "not_cached", message);
  }

  /** The request was ended for another one. */
  static ApiError evicted() {
    String message = "It was ended for a request of higher priority.";
    return new ApiError(429, "rate_limit_error", "evicted", message);
  }

  /** Too much is going on in the router itself. */
  public static ApiError overloaded(String what) {
    return unavailable("overloaded", "The router is overloaded: " + what + ".");
  }

  /** The threads that read bodies do not come to it. */
  static ApiError unread() {
    return overloaded("too many bodies wait to be read");
  }

  /** Many bodies come at once. */
  public static ApiError noRoom() {
    return overloaded("bodies of other requests take all the room there is");
  }

  /** The Java heap has no room for another request. */
  public static ApiError heapFull() {
    return unavailable("heap_full", "The router is overloaded: its memory is nearly full.");
  }

  /** A bug of ours. */
  public static ApiError internal() {
    return new ApiError(500, "internal_error", "internal_error", "The router failed.");
  }

  public static ApiError shuttingDown() {
    return unavailable("shutting_down", "The router is shutting down.");
  }

  static ApiError upstream(int status, String code, String message) {
    return new ApiError(status, "upstream_error", code, message);
  }

  /** What an engine answered instead of the stream that was begun for it. */
  static ApiError ofEngine(int status, byte[] body) {
    String code = "status_" + status;
    if (status < 400) {
      return upstream(502, code, "The replica did not answer with a stream.");
    }
    JsonNode said = JSON.missingNode();
    try {
      JsonNode root = JSON.readTree(body);
      said = root.path("error").isObject() ? root.path("error") : root;
    } catch (IOException e) {
      // it has no message of its own
    }
    String message = said.path("message").asText("The replica answered with this status.");
    String type = said.path("type").asText("upstream_error");
    return new ApiError(status, type, said.path("code").asText(code), message);
  }

  /** Anthropic's kind of error for the status, as its API documents them. */
  private static String anthropicType(ApiError error) {
    return switch (error.status) {
      case 401 -> "authentication_error";
      case 403 -> "permission_error";
      case 404 -> "not_found_error";
      case 413 -> "request_too_large";
      case 429 -> "rate_limit_error";
      case 503 -> "overloaded_error";
      case 504 -> "timeout_error";
      default -> error.status < 500 ? "invalid_request_error" : "api_error";
    };
  }

  /** The body of the answer. */
  public String json(Form form) {
    return form.json(this).toString();
  }

  /**
   * The error as the last event of a stream.
   *
   * @param number of events before it
   */
  String event(Form form, int number) {
    return form.event(this, number);
  }

  /** Answers a request with it. */
  void send(HttpServerResponse response, Form form) {
    response.setStatusCode(status);
    headers(response::putHeader);
    response.end(json(form));
  }

  /** The headers of an answer with it. */
  public void headers(BiConsumer<String, String> to) {
    to.accept("content-type", "application/json");
    if (retrySeconds > 0) {
      to.accept("retry-after", Integer.toString(retrySeconds));
    }
    if (status == 401) {
      to.accept("www-authenticate", "Bearer");
    } else if (status == 415) {
      to.accept("accept-encoding", ContentCoding.understood());
    }
  }
}
