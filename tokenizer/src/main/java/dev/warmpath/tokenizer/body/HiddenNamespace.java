package dev.warmpath.tokenizer.body;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.jspecify.annotations.Nullable;

/**
 * What a request says of the name space that SGLang is to serve it in.
 *
 * <p>Immutable.
 */
public final class HiddenNamespace {

  private HiddenNamespace() {}

  /** Why the request's name space cannot be told, or null if it can. */
  public static @Nullable String of(ObjectNode body) {
    if (body.hasNonNull("lora_path")) {
      return "the request has a lora_path";
    }
    return body.hasNonNull("extra_key") && extraKey(body) == null
        ? "the request has an extra_key that is no text"
        : null;
  }

  /** The request's {@code extra_key}, or null. */
  public static @Nullable String extraKey(ObjectNode body) {
    JsonNode key = body.get("extra_key");
    return key != null && key.isTextual() && !key.textValue().isEmpty() ? key.textValue() : null;
  }
}
