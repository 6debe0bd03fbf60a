package dev.warmpath.tokenizer.body;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.jspecify.annotations.Nullable;

/** What a request says of the name space that SGLang is to serve it in. */
public final class HiddenNamespace {

  private HiddenNamespace() {}

  /** Refuses a request whose name space cannot be told. */
  public static void check(ObjectNode body) {
    if (body.hasNonNull("lora_path")) {
      throw new InexactPromptException(
          FallbackCause.HIDDEN_NAMESPACE, "the request has a lora_path");
    }
    if (body.hasNonNull("extra_key") && extraKey(body) == null) {
      throw new InexactPromptException(
          FallbackCause.HIDDEN_NAMESPACE, "the request has an extra_key that is no text");
    }
  }

  /** The request's {@code extra_key}, or null. */
  public static @Nullable String extraKey(ObjectNode body) {
    JsonNode key = body.get("extra_key");
    return key != null && key.isTextual() && !key.textValue().isEmpty() ? key.textValue() : null;
  }
}
