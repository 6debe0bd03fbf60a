package dev.warmpath.router.proxy;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.vertx.core.http.HttpServerResponse;

/**
 * An error that the router answers itself, in the form of the OpenAI API.
 *
 * <p>Immutable.
 *
 * @param status HTTP status
 * @param type OpenAI's kind of error
 * @param code what happened, in lower case with underscores; also a metric label
 * @param message for people; holds nothing of the prompt
 */
record ApiError(int status, String type, String code, String message) {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String RETRY_AFTER_SECONDS = "1";

  static ApiError notFound(String what) {
    return new ApiError(404, "invalid_request_error", "not_found", what);
  }

  static ApiError unknownModel(String model) {
    String message = "No replica serves the model `" + model + "`.";
    return new ApiError(404, "invalid_request_error", "model_not_found", message);
  }

  static ApiError methodNotAllowed(String allowed) {
    String message = "This path takes " + allowed + " only.";
    return new ApiError(405, "invalid_request_error", "method_not_allowed", message);
  }

  static ApiError tooLarge(int limitBytes) {
    String message = "The request body is larger than " + limitBytes + " bytes.";
    return new ApiError(413, "invalid_request_error", "body_too_large", message);
  }

  static ApiError bodyTimeout() {
    return new ApiError(408, "invalid_request_error", "body_timeout", "The body did not come.");
  }

  static ApiError unavailable(String code, String message) {
    return new ApiError(503, "service_unavailable_error", code, message);
  }

  static ApiError upstream(int status, String code, String message) {
    return new ApiError(status, "upstream_error", code, message);
  }

  String json() {
    ObjectNode root = JSON.createObjectNode();
    ObjectNode error = root.putObject("error");
    error.put("message", message).put("type", type).putNull("param").put("code", code);
    return root.toString();
  }

  /** The error as the last event of a stream. */
  String event() {
    return "data: " + json() + "\n\n";
  }

  /** Answers a request with it. */
  void send(HttpServerResponse response) {
    response.setStatusCode(status).putHeader("content-type", "application/json");
    if (status == 503) {
      response.putHeader("retry-after", RETRY_AFTER_SECONDS);
    }
    response.end(json());
  }
}
