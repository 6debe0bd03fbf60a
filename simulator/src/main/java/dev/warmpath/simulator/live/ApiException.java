package dev.warmpath.simulator.live;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.jspecify.annotations.Nullable;

/**
 * A request that is answered with an error in OpenAI's form.
 *
 * <p>Immutable.
 */
final class ApiException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final int status;
  private final String type;
  private final @Nullable String parameter;

  private ApiException(int status, String type, String message, @Nullable String parameter) {
    super(message, null, false, false);
    this.status = status;
    this.type = type;
    this.parameter = parameter;
  }

  static ApiException badRequest(String message, @Nullable String parameter) {
    return new ApiException(400, "BadRequestError", message, parameter);
  }

  static ApiException unknownModel(String model) {
    String message = "The model `" + model + "` does not exist.";
    return new ApiException(404, "NotFoundError", message, "model");
  }

  static ApiException unavailable(String message) {
    return new ApiException(503, "ServiceUnavailableError", message, null);
  }

  static ApiException engineDead() {
    return new ApiException(500, "InternalServerError", "The engine is dead.", null);
  }

  static ApiException transferFailed() {
    return new ApiException(500, "InternalServerError", "Internal server error", null);
  }

  int status() {
    return status;
  }

  String body() {
    ObjectNode body = JsonNodeFactory.instance.objectNode();
    body.putObject("error")
        .put("message", getMessage())
        .put("type", type)
        .put("param", parameter)
        .put("code", status);
    return body.toString();
  }
}
