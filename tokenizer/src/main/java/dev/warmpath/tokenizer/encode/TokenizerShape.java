package dev.warmpath.tokenizer.encode;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A {@code tokenizer.json}: its text, and what of it the native library does not tell.
 *
 * @param json the whole file
 * @param normalizers the normalizers in order, sequences unfolded
 * @param preTokenizers the pre-tokenizers in order, sequences unfolded
 * @param model the model without its vocabulary and merges
 * @param vocabulary token ids by the token as the file spells it
 * @param maxTokenId the largest id of the vocabulary and the added tokens, or -1 if it has none
 * @param hasPostProcessor whether the file says what to add around a text
 */
public record TokenizerShape(
    String json,
    List<JsonNode> normalizers,
    List<JsonNode> preTokenizers,
    JsonNode model,
    Map<String, Integer> vocabulary,
    List<AddedToken> addedTokens,
    int maxTokenId,
    boolean hasPostProcessor) {

  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final JsonFactory FACTORY = MAPPER.getFactory();
  private static final Set<String> DROPPED = Set.of("added_tokens", "post_processor");

  /**
   * Reads the file's text. Merges are skipped: they are half of the file, and no cut needs them.
   *
   * @throws IllegalArgumentException if it is not JSON, or not of the known form
   */
  public static TokenizerShape read(String json) {
    Map<String, JsonNode> fields = new LinkedHashMap<>();
    Map<String, Integer> vocabulary = new LinkedHashMap<>();
    int maxTokenId = -1;
    try (JsonParser parser = FACTORY.createParser(json)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        throw new IllegalArgumentException("it holds no JSON object");
      }
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        String field = parser.currentName();
        if (parser.nextToken() == JsonToken.START_OBJECT && field.equals("model")) {
          ObjectNode model = MAPPER.createObjectNode();
          maxTokenId = model(parser, model, vocabulary);
          fields.put(field, model);
        } else {
          fields.put(field, MAPPER.readTree(parser));
        }
      }
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(
          "not readable as JSON: %s (line %d)"
              .formatted(
                  e.getOriginalMessage(),
                  e.getLocation() == null ? 0 : e.getLocation().getLineNr()),
          e);
    } catch (IOException e) {
      throw new IllegalArgumentException("not readable as JSON: " + e.getMessage(), e);
    }
    List<AddedToken> added = new ArrayList<>();
    for (JsonNode node : field(fields, "added_tokens")) {
      maxTokenId = Math.max(maxTokenId, node.path("id").asInt(-1));
      if (!node.path("content").asText().isEmpty()) {
        added.add(AddedToken.of(node));
      }
    }
    JsonNode postProcessor = field(fields, "post_processor");
    return new TokenizerShape(
        json,
        unfolded(field(fields, "normalizer"), "normalizers"),
        unfolded(field(fields, "pre_tokenizer"), "pretokenizers"),
        field(fields, "model"),
        vocabulary,
        List.copyOf(added),
        maxTokenId,
        !postProcessor.isMissingNode() && !postProcessor.isNull());
  }

  /**
   * The same tokenizer with other tokens that texts are searched for; what its own look like is
   * ordinary text, and nothing is put around a text.
   */
  public TokenizerShape with(List<AddedToken> tokens) {
    return new TokenizerShape(
        withoutTokens(json),
        normalizers,
        preTokenizers,
        model,
        vocabulary,
        List.copyOf(tokens),
        maxTokenId,
        false);
  }

  private static String withoutTokens(String json) {
    StringWriter out = new StringWriter(json.length());
    try (JsonParser parser = FACTORY.createParser(json);
        JsonGenerator to = FACTORY.createGenerator(out)) {
      parser.nextToken();
      to.writeStartObject();
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        boolean drops = DROPPED.contains(parser.currentName());
        parser.nextToken();
        if (drops) {
          parser.skipChildren();
        } else {
          to.writeFieldName(parser.currentName());
          to.copyCurrentStructure(parser);
        }
      }
      to.writeEndObject();
    } catch (IOException e) {
      throw new IllegalArgumentException("not readable as JSON: " + e.getMessage(), e);
    }
    return out.toString();
  }

  private static JsonNode field(Map<String, JsonNode> fields, String name) {
    @Nullable JsonNode node = fields.get(name);
    return node == null ? MissingNode.getInstance() : node;
  }

  /** Reads the model; its {@code vocab} maps tokens to ids, or lists them in order. */
  private static int model(JsonParser parser, ObjectNode model, Map<String, Integer> vocabulary)
      throws IOException {
    int max = -1;
    while (parser.nextToken() == JsonToken.FIELD_NAME) {
      String field = parser.currentName();
      JsonToken value = parser.nextToken();
      if (field.equals("vocab") && value == JsonToken.START_OBJECT) {
        max = vocabulary(parser, vocabulary);
      } else if (field.equals("vocab") && value == JsonToken.START_ARRAY) {
        for (max = -1; parser.nextToken() != JsonToken.END_ARRAY; max++) {
          parser.skipChildren();
        }
      } else if (field.equals("vocab") || field.equals("merges")) {
        parser.skipChildren();
      } else {
        model.set(field, MAPPER.<JsonNode>readTree(parser));
      }
    }
    return max;
  }

  private static int vocabulary(JsonParser parser, Map<String, Integer> vocabulary)
      throws IOException {
    int max = -1;
    while (parser.nextToken() == JsonToken.FIELD_NAME) {
      String token = parser.currentName();
      parser.nextToken();
      vocabulary.put(token, parser.getIntValue());
      max = Math.max(max, parser.getIntValue());
    }
    return max;
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
