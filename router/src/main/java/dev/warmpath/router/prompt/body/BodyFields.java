package dev.warmpath.router.prompt.body;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.Set;

/**
 * What a body says besides its prompt, and about how long that is: found in one pass that builds
 * nothing of the prompt.
 *
 * <p>Immutable.
 *
 * @param fields of the body's own fields those that name its model, its session and the response
 *     that it continues, and {@code stream}; of a field given twice the last value
 * @param estimatedTokens how long the prompt may be: a token for four bytes of text and for each
 *     number in a list; a text that is a {@code data:} URL has none
 */
public record BodyFields(ObjectNode fields, int estimatedTokens) {

  private static final Set<String> NAMES =
      Set.of("model", "session_id", "user", "previous_response_id");

  private static final String STREAM = "stream";
  private static final byte[] DATA = {'"', 'd', 'a', 't', 'a', ':'};
  private static final int BYTES_PER_TOKEN = 4;

  /** Deeper than any engine reads, so that what an engine can read is read here. */
  private static final int DEEPEST = 1_000;

  private static final ObjectMapper JSON =
      new ObjectMapper(
          JsonFactory.builder()
              .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
              .streamReadConstraints(
                  StreamReadConstraints.builder()
                      .maxNestingDepth(DEEPEST)
                      .maxStringLength(Integer.MAX_VALUE)
                      .build())
              .build());

  /** Reads a body; one that is no JSON object says nothing. */
  public static BodyFields of(byte[] body) {
    ObjectNode fields = JSON.createObjectNode();
    try (JsonParser parser = JSON.getFactory().createParser(body)) {
      if (parser.nextToken() == JsonToken.START_OBJECT) {
        return new BodyFields(fields, read(parser, body, fields));
      }
    } catch (IOException e) {
      fields.removeAll();
    }
    return new BodyFields(fields, 0);
  }

  /** Whether it asks for a stream of events. */
  public static boolean isStreamed(ObjectNode fields) {
    return fields.path(STREAM).asBoolean();
  }

  private static int read(JsonParser parser, byte[] body, ObjectNode fields) throws IOException {
    long tokens = 0;
    while (parser.nextToken() == JsonToken.FIELD_NAME) {
      String name = parser.currentName();
      JsonToken value = parser.nextToken();
      if (NAMES.contains(name) || name.equals(STREAM)) {
        keep(parser, fields, name);
        parser.skipChildren();
      } else if (value.isStructStart() || value == JsonToken.VALUE_STRING) {
        tokens += weight(parser, body);
      }
    }
    if (parser.currentToken() != JsonToken.END_OBJECT) {
      throw new IOException("the body ends early");
    }
    return (int) Math.min(tokens, Integer.MAX_VALUE);
  }

  private static void keep(JsonParser parser, ObjectNode fields, String name) throws IOException {
    switch (parser.currentToken()) {
      case VALUE_NULL -> fields.remove(name);
      case VALUE_STRING -> fields.put(name, parser.getText());
      case VALUE_TRUE, VALUE_FALSE -> fields.put(name, parser.getBooleanValue());
      default -> fields.putArray(name); // it is there, but names nothing
    }
  }

  /**
   * Tokens of the value that begins here, up to its end. A text's end is the next token's begin.
   */
  private static long weight(JsonParser parser, byte[] body) throws IOException {
    if (parser.currentToken() == JsonToken.VALUE_STRING) {
      long start = place(parser);
      parser.finishToken();
      return text(body, start, parser.currentLocation().getByteOffset());
    }
    long tokens = 0;
    long textStart = -1;
    for (int depth = 1; depth > 0; ) {
      JsonToken token = parser.nextToken();
      if (token == null) {
        throw new IOException("the body ends early");
      }
      tokens += textStart < 0 ? 0 : text(body, textStart, place(parser));
      textStart = token == JsonToken.VALUE_STRING ? place(parser) : -1;
      tokens += token.isNumeric() ? 1 : 0;
      depth += token.isStructStart() ? 1 : token.isStructEnd() ? -1 : 0;
    }
    return tokens;
  }

  private static long place(JsonParser parser) {
    return parser.currentTokenLocation().getByteOffset();
  }

  private static long text(byte[] body, long from, long to) {
    for (int i = 0; i < DATA.length; i++) {
      if (from + i >= body.length || body[(int) from + i] != DATA[i]) {
        return (to - from) / BYTES_PER_TOKEN;
      }
    }
    return 0;
  }
}
