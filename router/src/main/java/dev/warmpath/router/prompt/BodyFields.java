package dev.warmpath.router.prompt;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.core.util.JsonParserDelegate;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a body, JSON or a form, says besides its prompt, and about how long that is: found in one
 * pass that builds nothing of the prompt. So is read what has no prompt, or none that there is time
 * or room for; all else is parsed, once, by {@link BodyParser}.
 *
 * <p>Immutable.
 *
 * @param fields of the body's own fields those that name its model, its session and the response
 *     that it continues, and {@code stream}; of a field given twice the last value
 * @param estimatedTokens how long the prompt may be: a token for four bytes of text and for each
 *     number in a list; a text that is a {@code data:} URL has none, nor has a form's file
 * @param models all models that the body names: each value of a field given twice, and adapters
 *     beside their model (SGLang's {@code lora_path}) as MODEL:ADAPTER; an empty name stands for
 *     what is no text
 * @param hasImages whether its messages seem to have images or videos
 */
public record BodyFields(
    ObjectNode fields, int estimatedTokens, Set<String> models, boolean hasImages) {

  static final Set<String> NAMES = Set.of("model", "session_id", "user", "previous_response_id");
  static final String STREAM = "stream";

  private static final byte[] DATA = "\"data:".getBytes(StandardCharsets.US_ASCII);

  /** Fields with what is said by turns; elsewhere (in tools) the same words mean nothing. */
  private static final Set<String> TURNS = Set.of("messages", "input");

  /** What is an image has one of these, or its type begins so. */
  private static final Set<String> IMAGES =
      Set.of("image_url", "image_embeds", "video_url", "video_embeds");

  private static final String IMAGE_TYPE = "image";
  private static final byte[] IMAGE = ('"' + IMAGE_TYPE).getBytes(StandardCharsets.US_ASCII);
  private static final int BYTES_PER_TOKEN = 4;

  /** Deeper than any engine reads, so that what an engine can read is read here. */
  private static final int DEEPEST = 1_000;

  /**
   * The parser keeps each name that differs, at a hundred bytes or so; no engine's request has so
   * many. A body with more says nothing, as what follows could name another model.
   */
  private static final int MOST_NAMES = 1 << 18;

  private static final ObjectMapper JSON =
      new ObjectMapper(
          JsonFactory.builder()
              .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
              .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
              .streamReadConstraints(
                  StreamReadConstraints.builder()
                      .maxNestingDepth(DEEPEST)
                      .maxStringLength(Integer.MAX_VALUE)
                      .build())
              .build());

  /** Says nothing. */
  static final BodyFields NOTHING = new BodyFields(JSON.createObjectNode(), 0, Set.of(), false);

  /**
   * Reads a body; one that is neither a form, by its type, nor a JSON object says nothing.
   *
   * @param contentType the request's {@code Content-Type}, or null
   */
  public static BodyFields of(byte[] body, @Nullable String contentType) {
    return contentType != null && FormBody.isForm(contentType)
        ? FormBody.read(body, contentType)
        : of(body);
  }

  /** Reads a JSON body; one that is no object says nothing. */
  public static BodyFields of(byte[] body) {
    ObjectNode fields = JSON.createObjectNode();
    NamedModels models = new NamedModels();
    try (JsonParser parser = new CountedNames(JSON.getFactory().createParser(body))) {
      if (parser.nextToken() == JsonToken.START_OBJECT) {
        Scan prompt = new Scan(parser, body);
        read(parser, prompt, fields, models);
        return new BodyFields(fields, prompt.tokens(), models.names(), prompt.hasImages);
      }
    } catch (IOException e) {
      return NOTHING;
    }
    return NOTHING;
  }

  /**
   * How long the prompt of a body that was parsed may be: as above, and shorter only where a text
   * is written with escapes.
   */
  public static int estimatedTokens(ObjectNode body) {
    long tokens = 0;
    for (Map.Entry<String, JsonNode> field : body.properties()) {
      String name = field.getKey();
      JsonNode value = field.getValue();
      boolean isPrompt = !NAMES.contains(name) && !name.equals(STREAM) && !NamedModels.isOne(name);
      if (isPrompt && !value.isNumber()) {
        tokens += weight(value);
      }
    }
    return (int) Math.min(tokens, Integer.MAX_VALUE);
  }

  /** Tokens of a value; its depth is bounded by the parser. */
  private static long weight(JsonNode value) {
    if (value.isTextual()) {
      String text = value.textValue();
      return text.startsWith("data:") ? 0 : utf8Bytes(text) / BYTES_PER_TOKEN;
    }
    long tokens = value.isNumber() ? 1 : 0;
    for (JsonNode child : value) {
      tokens += weight(child);
    }
    return tokens;
  }

  /** Whether the messages of a body that was parsed seem to have images or videos. */
  static boolean hasImages(ObjectNode body) {
    return TURNS.stream().anyMatch(name -> holdsImage(body.path(name)));
  }

  private static boolean holdsImage(JsonNode value) {
    if (value.path("type").asText().startsWith(IMAGE_TYPE)
        || IMAGES.stream().anyMatch(value::has)) {
      return true;
    }
    for (JsonNode child : value) {
      if (holdsImage(child)) {
        return true;
      }
    }
    return false;
  }

  private static long utf8Bytes(String text) {
    long bytes = text.length();
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      bytes += c < 0x80 ? 0 : c < 0x800 || Character.isSurrogate(c) ? 1 : 2;
    }
    return bytes;
  }

  /** Whether a body of this type is a form, which has no prompt. */
  public static boolean isForm(@Nullable String contentType) {
    return FormBody.isForm(contentType);
  }

  /** A parser that gives up after {@link #MOST_NAMES}. */
  private static final class CountedNames extends JsonParserDelegate {
    private int names;

    CountedNames(JsonParser parser) {
      super(parser);
    }

    @Override
    public @Nullable JsonToken nextToken() throws IOException {
      JsonToken token = delegate.nextToken();
      if (token == JsonToken.FIELD_NAME && ++names > MOST_NAMES) {
        throw new IOException("the body has more than " + MOST_NAMES + " names");
      }
      return token;
    }

    @Override
    public JsonParser skipChildren() throws IOException {
      int depth = currentToken() != null && currentToken().isStructStart() ? 1 : 0;
      while (depth > 0) {
        JsonToken token = nextToken();
        if (token == null) {
          throw new IOException("the body ends early");
        }
        depth += token.isStructStart() ? 1 : token.isStructEnd() ? -1 : 0;
      }
      return this;
    }
  }

  /** Whether it asks for a stream of events. */
  public static boolean isStreamed(ObjectNode fields) {
    return fields.path(STREAM).asBoolean();
  }

  private static void read(JsonParser parser, Scan prompt, ObjectNode fields, NamedModels models)
      throws IOException {
    while (parser.nextToken() == JsonToken.FIELD_NAME) {
      String name = parser.currentName();
      JsonToken value = parser.nextToken();
      boolean isKept = NAMES.contains(name) || name.equals(STREAM);
      boolean namesModel = NamedModels.isOne(name);
      if (isKept) {
        keep(parser, fields, name);
      }
      if (namesModel) {
        models.read(name, parser);
      }
      if (isKept || namesModel) {
        parser.skipChildren();
      } else if (value.isStructStart() || value == JsonToken.VALUE_STRING) {
        prompt.add(TURNS.contains(name));
      }
    }
    if (parser.currentToken() != JsonToken.END_OBJECT) {
      throw new IOException("the body ends early");
    }
  }

  private static void keep(JsonParser parser, ObjectNode fields, String name) throws IOException {
    switch (parser.currentToken()) {
      case VALUE_NULL -> fields.remove(name);
      case VALUE_STRING -> fields.put(name, parser.getText());
      case VALUE_TRUE, VALUE_FALSE -> fields.put(name, parser.getBooleanValue());
      default -> fields.putArray(name); // it is there, but names nothing
    }
  }

  /** What is found out of a prompt that is passed by. Confined to its thread. */
  private static final class Scan {
    private final JsonParser parser;
    private final byte[] body;
    private long tokens;
    private boolean hasImages;

    Scan(JsonParser parser, byte[] body) {
      this.parser = parser;
      this.body = body;
    }

    int tokens() {
      return (int) Math.min(tokens, Integer.MAX_VALUE);
    }

    /**
     * Adds the value that begins here, up to its end. A text's end is the next token's begin.
     *
     * @param isTurns whether it may have images
     */
    void add(boolean isTurns) throws IOException {
      if (parser.currentToken() == JsonToken.VALUE_STRING) {
        long start = place();
        parser.finishToken();
        addText(start, parser.currentLocation().getByteOffset());
        return;
      }
      long textStart = -1;
      for (int depth = 1; depth > 0; ) {
        JsonToken token = parser.nextToken();
        if (token == null) {
          throw new IOException("the body ends early");
        }
        if (textStart >= 0) {
          addText(textStart, place());
        }
        textStart = token == JsonToken.VALUE_STRING ? place() : -1;
        tokens += token.isNumeric() ? 1 : 0;
        depth += token.isStructStart() ? 1 : token.isStructEnd() ? -1 : 0;
        hasImages |= isTurns && isImage(token, textStart);
      }
    }

    private boolean isImage(JsonToken token, long textStart) throws IOException {
      return token == JsonToken.FIELD_NAME
          ? IMAGES.contains(parser.currentName())
          : textStart >= 0 && "type".equals(parser.currentName()) && isImageType(textStart);
    }

    /** One that is written with escapes may be. */
    private boolean isImageType(long from) {
      for (int i = 1; i < IMAGE.length && from + i < body.length; i++) {
        byte is = body[(int) from + i];
        if (is != IMAGE[i]) {
          return is == '\\';
        }
      }
      return true;
    }

    private long place() {
      return parser.currentTokenLocation().getByteOffset();
    }

    private void addText(long from, long to) {
      tokens += begins(from, DATA) ? 0 : (to - from) / BYTES_PER_TOKEN;
    }

    private boolean begins(long from, byte[] bytes) {
      int at = (int) from;
      return at + bytes.length <= body.length
          && Arrays.equals(body, at, at + bytes.length, bytes, 0, bytes.length);
    }
  }
}
