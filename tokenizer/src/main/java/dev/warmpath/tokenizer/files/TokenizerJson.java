package dev.warmpath.tokenizer.files;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A {@code tokenizer.json}: its text, and the few facts of it that the native library does not
 * tell.
 *
 * <p>Immutable.
 *
 * @param json the whole file
 * @param maxTokenId the largest id of the vocabulary and the added tokens, or -1 if it has none
 * @param hasPostProcessor whether the file says what to add around a text
 */
public record TokenizerJson(String json, int maxTokenId, boolean hasPostProcessor) {

  private static final JsonFactory FACTORY = new JsonFactory();

  /** Reads {@code file}. */
  public static TokenizerJson read(Path file) {
    try {
      return parse(Files.readString(file));
    } catch (IOException e) {
      throw new TokenizerLoadException(file, "not readable as JSON: " + ModelFiles.brief(e), e);
    }
  }

  /** The facts of the file with this content. */
  public static TokenizerJson parse(String json) throws IOException {
    try (JsonParser parser = FACTORY.createParser(json)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        throw new IOException("it holds no JSON object");
      }
      int maxTokenId = -1;
      boolean hasPostProcessor = false;
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        String field = parser.currentName();
        JsonToken value = parser.nextToken();
        switch (field) {
          case "model" -> maxTokenId = Math.max(maxTokenId, modelMaxId(parser));
          case "added_tokens" -> maxTokenId = Math.max(maxTokenId, addedMaxId(parser));
          case "post_processor" -> hasPostProcessor = value != JsonToken.VALUE_NULL;
          default -> {}
        }
        skipRest(parser, value);
      }
      return new TokenizerJson(json, maxTokenId, hasPostProcessor);
    }
  }

  private static void skipRest(JsonParser parser, JsonToken value) throws IOException {
    if (value.isStructStart() && parser.currentToken() == value) {
      parser.skipChildren();
    }
  }

  /** Consumes the model object; its {@code vocab} maps tokens to ids, or lists them in order. */
  private static int modelMaxId(JsonParser parser) throws IOException {
    int max = -1;
    if (parser.currentToken() != JsonToken.START_OBJECT) {
      return max;
    }
    while (parser.nextToken() == JsonToken.FIELD_NAME) {
      boolean vocab = parser.currentName().equals("vocab");
      JsonToken value = parser.nextToken();
      if (vocab && value == JsonToken.START_OBJECT) {
        max = largestValue(parser);
      } else if (vocab && value == JsonToken.START_ARRAY) {
        max = elements(parser) - 1;
      } else if (value.isStructStart()) {
        parser.skipChildren();
      }
    }
    return max;
  }

  private static int largestValue(JsonParser parser) throws IOException {
    int max = -1;
    while (parser.nextToken() == JsonToken.FIELD_NAME) {
      parser.nextToken();
      max = Math.max(max, parser.getIntValue());
    }
    return max;
  }

  private static int elements(JsonParser parser) throws IOException {
    int count = 0;
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      parser.skipChildren();
      count++;
    }
    return count;
  }

  private static int addedMaxId(JsonParser parser) throws IOException {
    int max = -1;
    if (parser.currentToken() != JsonToken.START_ARRAY) {
      return max;
    }
    while (parser.nextToken() == JsonToken.START_OBJECT) {
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        boolean id = parser.currentName().equals("id");
        JsonToken value = parser.nextToken();
        if (id && value == JsonToken.VALUE_NUMBER_INT) {
          max = Math.max(max, parser.getIntValue());
        }
        parser.skipChildren();
      }
    }
    return max;
  }
}
