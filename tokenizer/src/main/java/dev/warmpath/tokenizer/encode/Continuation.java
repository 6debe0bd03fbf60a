package dev.warmpath.tokenizer.encode;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * Makes the tokenizer for pieces that go on a text out of one that puts a blank in front of what it
 * takes for a beginning.
 */
final class Continuation {

  private static final ObjectMapper MAPPER = new ObjectMapper();

  private Continuation() {}

  /** The file {@code json} without what puts a blank in front. */
  public static String of(String json) {
    try {
      JsonNode file = MAPPER.readTree(json);
      dropPrepend(file.path("normalizer"));
      if (TokenizerShape.isType(file.path("normalizer"), "Prepend")) {
        ((ObjectNode) file).putNull("normalizer");
      }
      if (file.path("pre_tokenizer").has("prepend_scheme")) {
        ((ObjectNode) file.path("pre_tokenizer")).put("prepend_scheme", "never");
      }
      return MAPPER.writeValueAsString(file);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException("not readable as JSON: " + e.getMessage(), e);
    }
  }

  private static void dropPrepend(JsonNode sequence) {
    if (sequence.path("normalizers") instanceof ArrayNode steps) {
      for (int i = steps.size() - 1; i >= 0; i--) {
        dropPrepend(steps.get(i));
        if (TokenizerShape.isType(steps.get(i), "Prepend")) {
          steps.remove(i);
        }
      }
    }
  }
}
