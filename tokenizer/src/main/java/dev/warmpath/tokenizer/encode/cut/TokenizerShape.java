package dev.warmpath.tokenizer.encode.cut;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a {@code tokenizer.json} says about how it goes to work, as far as cuts depend on it.
 *
 * <p>Immutable.
 *
 * @param normalizers the normalizers in order, sequences unfolded
 * @param preTokenizers the pre-tokenizers in order, sequences unfolded
 * @param model the model without its vocabulary and merges
 * @param vocabulary token ids by the token as the file spells it
 */
public record TokenizerShape(
    List<JsonNode> normalizers,
    List<JsonNode> preTokenizers,
    JsonNode model,
    Map<String, Integer> vocabulary,
    List<AddedToken> addedTokens) {

  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final JsonFactory FACTORY = MAPPER.getFactory();

  /**
   * Reads the file's text. Merges are skipped: they are half of the file, and no cut needs them.
   *
   * @throws IllegalArgumentException if it is not JSON, or not of the known form
   */
  public static TokenizerShape read(String json) {
    Map<String, JsonNode> fields = new LinkedHashMap<>();
    Map<String, Integer> vocabulary = new LinkedHashMap<>();
    try (JsonParser parser = FACTORY.createParser(json)) {
      parser.nextToken();
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        String field = parser.currentName();
        boolean model = parser.nextToken() == JsonToken.START_OBJECT && field.equals("model");
        fields.put(field, model ? model(parser, vocabulary) : MAPPER.readTree(parser));
      }
    } catch (IOException e) {
      throw new IllegalArgumentException("not readable as JSON: " + e.getMessage(), e);
    }
    List<AddedToken> added = new ArrayList<>();
    for (JsonNode node : field(fields, "added_tokens")) {
      if (!node.path("content").asText().isEmpty()) {
        added.add(AddedToken.of(node));
      }
    }
    return new TokenizerShape(
        unfolded(field(fields, "normalizer"), "normalizers"),
        unfolded(field(fields, "pre_tokenizer"), "pretokenizers"),
        field(fields, "model"),
        vocabulary,
        List.copyOf(added));
  }

  private static JsonNode field(Map<String, JsonNode> fields, String name) {
    @Nullable JsonNode node = fields.get(name);
    return node == null ? MissingNode.getInstance() : node;
  }

  private static JsonNode model(JsonParser parser, Map<String, Integer> vocabulary)
      throws IOException {
    ObjectNode model = MAPPER.createObjectNode();
    while (parser.nextToken() == JsonToken.FIELD_NAME) {
      String field = parser.currentName();
      JsonToken value = parser.nextToken();
      if (field.equals("vocab") && value == JsonToken.START_OBJECT) {
        vocabulary(parser, vocabulary);
      } else if (field.equals("vocab") || field.equals("merges")) {
        parser.skipChildren();
      } else {
        model.set(field, MAPPER.<JsonNode>readTree(parser));
      }
    }
    return model;
  }

  private static void vocabulary(JsonParser parser, Map<String, Integer> vocabulary)
      throws IOException {
    while (parser.nextToken() == JsonToken.FIELD_NAME) {
      String token = parser.currentName();
      parser.nextToken();
      vocabulary.put(token, parser.getIntValue());
    }
  }

  private static List<JsonNode> unfolded(JsonNode node, String list) {
    if (node.isMissingNode() || node.isNull()) {
      return List.of();
    }
    if (!node.path("type").asText().equals("Sequence")) {
      return List.of(node);
    }
    List<JsonNode> all = new ArrayList<>();
    node.path(list).forEach(part -> all.addAll(unfolded(part, list)));
    return List.copyOf(all);
  }

  /** Whether {@code node} is of this type. */
  static boolean isType(JsonNode node, String type) {
    return node.path("type").asText().equals(type);
  }

  /** Whether {@code node} makes one text out of another wherever it stands, and no pattern. */
  static boolean isReplace(JsonNode node, String from, String to) {
    return isType(node, "Replace")
        && node.path("pattern").path("String").asText().equals(from)
        && node.path("content").asText().equals(to);
  }
}
