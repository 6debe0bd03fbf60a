package dev.warmpath.router.prompt;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Where the fields of a JSON request lie in its bytes, so that some can be left out and others
 * added. All else stays byte by byte as the client wrote it: numbers keep their digits, texts their
 * escapes.
 *
 * <p>Immutable, but for the bytes, which nobody may change.
 */
public final class RequestFields {

  private static final int DEEPEST = 1_000;

  /** The parser keeps each name that differs, at a hundred bytes or so; no request has so many. */
  private static final int MOST_NAMES = 1 << 18;

  private static final JsonFactory JSON =
      JsonFactory.builder()
          .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
          .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(DEEPEST)
                  .maxStringLength(Integer.MAX_VALUE)
                  .maxNumberLength(Integer.MAX_VALUE)
                  .maxNameLength(Integer.MAX_VALUE)
                  .build())
          .build();

  /**
   * One field of the object.
   *
   * @param from where its name begins, in bytes
   * @param valueFrom where its value begins
   * @param to where its value ends
   * @param texts how many texts or lists a list holds; 0 of all else
   */
  private record Field(String name, int from, int valueFrom, int to, int texts) {}

  private final byte[] body;
  private final List<Field> fields;

  private RequestFields(byte[] body, List<Field> fields) {
    this.body = body;
    this.fields = fields;
  }

  /**
   * Finds the fields of a body.
   *
   * @return null if it is no JSON object in UTF-8, or has more names, or deeper values, than any
   *     engine's request
   */
  public static @Nullable RequestFields of(byte[] body) {
    if (isWide(body)) {
      return null;
    }
    List<Field> fields = new ArrayList<>();
    try (JsonParser parser = JSON.createParser(body)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        return null;
      }
      int names = 0;
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        int from = place(parser);
        String name = parser.currentName();
        parser.nextToken();
        int valueFrom = place(parser);
        Inside inside = Inside.of(parser, MOST_NAMES - names);
        names += 1 + inside.names();
        parser.finishToken();
        int to = (int) parser.currentLocation().getByteOffset();
        fields.add(new Field(name, from, valueFrom, to, inside.texts()));
      }
      boolean isWhole = parser.currentToken() == JsonToken.END_OBJECT && parser.nextToken() == null;
      return isWhole ? new RequestFields(body, List.copyOf(fields)) : null;
    } catch (IOException e) {
      return null;
    }
  }

  /**
   * What a value holds.
   *
   * @param names of fields, at any depth
   * @param texts and lists in it, if it is a list
   */
  private record Inside(int names, int texts) {

    /** Goes on to the value's end. */
    static Inside of(JsonParser parser, int mostNames) throws IOException {
      boolean isList = parser.currentToken() == JsonToken.START_ARRAY;
      int names = 0;
      int texts = 0;
      int depth = parser.currentToken().isStructStart() ? 1 : 0;
      while (depth > 0) {
        JsonToken token = parser.nextToken();
        if (token == null || names > mostNames) {
          throw new IOException("depth=" + depth + " names=" + names);
        }
        boolean isText = token == JsonToken.VALUE_STRING || token == JsonToken.START_ARRAY;
        texts += isList && depth == 1 && isText ? 1 : 0;
        names += token == JsonToken.FIELD_NAME ? 1 : 0;
        depth += token.isStructStart() ? 1 : token.isStructEnd() ? -1 : 0;
      }
      return new Inside(names, texts);
    }
  }

  /** Whether it is UTF-16 or UTF-32, in which one of the first bytes is 0 or above 0xfd. */
  private static boolean isWide(byte[] body) {
    for (int i = 0; i < Math.min(body.length, 4); i++) {
      if (body[i] == 0 || (body[i] & 0xff) > 0xfd) {
        return true;
      }
    }
    return false;
  }

  private static int place(JsonParser parser) {
    return (int) parser.currentTokenLocation().getByteOffset();
  }

  /** Whether a field of that name is there, with any value but null. */
  public boolean has(String name) {
    return value(name) != null;
  }

  /**
   * The value of a field as it is written; of a field given twice the last one, as engines read it.
   *
   * @return null if it is not there, or is null
   */
  public @Nullable String value(String name) {
    String found = null;
    for (Field field : fields) {
      if (field.name().equals(name)) {
        found = valueOf(field);
      }
    }
    return found == null || found.equals("null") ? null : found;
  }

  private String valueOf(Field field) {
    int length = field.to() - field.valueFrom();
    return new String(body, field.valueFrom(), length, StandardCharsets.UTF_8).strip();
  }

  /** Whether the field asks for one, or for nothing. */
  private boolean isOne(String name) {
    String value = value(name);
    return value == null || value.equals("1");
  }

  private boolean isTrue(String name) {
    return "true".equals(value(name));
  }

  /**
   * Whether the request is for one answer to one prompt, so that its prompt can be computed
   * elsewhere: a prefill hands over one. What is asked of the prompt's own tokens can be answered
   * only by who computes them; decodes of vLLM have died of it (vllm#50792).
   */
  public boolean isForOneAnswer() {
    boolean isOnePrompt =
        fields.stream().noneMatch(field -> field.name().equals("prompt") && field.texts() > 1);
    boolean isOneAnswer = isOne("n") && isOne("best_of") && !isTrue("use_beam_search");
    boolean asksOfPrompt =
        isTrue("echo") || has("prompt_logprobs") || has("prompt_logprob_token_ids");
    return isOnePrompt && isOneAnswer && !asksOfPrompt;
  }

  /**
   * The body without some fields and with others at its end.
   *
   * @param without names of fields that are left out, as are those of {@code with}
   * @param with values as JSON, by their names, which need no escapes
   */
  public byte[] edited(Set<String> without, Map<String, String> with) {
    ByteArrayOutputStream out = new ByteArrayOutputStream(body.length + 256);
    out.write('{');
    boolean isFirst = true;
    for (Field field : fields) {
      if (!without.contains(field.name()) && !with.containsKey(field.name())) {
        isFirst = separate(out, isFirst);
        out.write(body, field.from(), field.to() - field.from());
      }
    }
    for (Map.Entry<String, String> field : new LinkedHashMap<>(with).entrySet()) {
      isFirst = separate(out, isFirst);
      out.writeBytes(
          ('"' + field.getKey() + "\":" + field.getValue()).getBytes(StandardCharsets.UTF_8));
    }
    out.write('}');
    return out.toByteArray();
  }

  private static boolean separate(ByteArrayOutputStream out, boolean isFirst) {
    if (!isFirst) {
      out.write(',');
    }
    return false;
  }
}
