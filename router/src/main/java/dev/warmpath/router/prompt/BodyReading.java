package dev.warmpath.router.prompt;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonParser.NumberType;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.Arrays;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Builds the object of one body and notes where its messages begin.
 *
 * <p>Confined to one thread.
 */
final class BodyReading {

  /*
   * A body that continues a known one is read as an object of its own: the list's field with the
   * messages from the last shared one on, then what follows in the body. Equal bytes up to the
   * beginning of that message mean that the parser stands in the same place of the same list there,
   * so it says the same of all that follows: other fields, and fields given twice, of which the last
   * counts and the first keeps its place. One message that is known is thus read again, which shows
   * that a comma behind it is followed by another.
   */

  /** The lists that grow with a chat. */
  private static final Set<String> LISTS = Set.of("messages", "input");

  private final ObjectReader json;
  private final ObjectNode result;
  private final int shift;
  private final NamedModels models;
  private @Nullable Messages messages;
  private @Nullable ObjectNode before;
  private @Nullable NamedModels modelsBefore;
  private String name = "";

  private BodyReading(ObjectReader json, NamedModels models) {
    this.json = json;
    this.models = models;
    this.result = (ObjectNode) json.createObjectNode();
    this.shift = 0;
  }

  private BodyReading(
      ObjectReader json, NamedModels models, KnownBody known, int shared, int shift) {
    this.json = json;
    this.models = models;
    this.models.copy(known.modelsBefore());
    this.result = (ObjectNode) json.createObjectNode();
    this.result.setAll(known.before());
    this.messages = known.messages().first(shared);
    this.shift = shift;
  }

  /**
   * Reads a body; null if it begins no object.
   *
   * @param models gets those that it names
   * @param remembers whether {@link #known} is asked
   */
  static @Nullable BodyReading whole(
      ObjectReader json, NamedModels models, byte[] body, boolean remembers) throws IOException {
    BodyReading reading = new BodyReading(json, models);
    return reading.read(body, remembers) ? reading : null;
  }

  /** Reads a body whose first messages are known. */
  static BodyReading continued(
      ObjectReader json, NamedModels models, KnownBody known, int shared, byte[] body)
      throws IOException {
    byte[] head = ("{\"" + known.name() + "\":[").getBytes(UTF_8);
    int from = known.start(shared);
    byte[] rest = Arrays.copyOf(head, head.length + body.length - from);
    System.arraycopy(body, from, rest, head.length, body.length - from);
    BodyReading reading = new BodyReading(json, models, known, shared, from - head.length);
    boolean unused = reading.read(rest, true);
    return reading;
  }

  ObjectNode result() {
    return result;
  }

  /** What is worth remembering; null if nothing is. */
  @Nullable KnownBody known(byte[] body) {
    return before == null || modelsBefore == null || messages == null || messages.count() < 2
        ? null
        : new KnownBody(body, before, modelsBefore, name, messages);
  }

  private boolean read(byte[] bytes, boolean remembers) throws IOException {
    try (JsonParser parser = json.createParser(bytes)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        return false;
      }
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        String field = parser.currentName();
        boolean isList = parser.nextToken() == JsonToken.START_ARRAY && LISTS.contains(field);
        if (isList && remembers && before == null) {
          readMessages(parser, field);
        } else {
          readField(parser, field);
        }
      }
      return true;
    }
  }

  private void readField(JsonParser parser, String field) throws IOException {
    JsonNode value = value(parser);
    result.set(field, value);
    if (value.isTextual() && NamedModels.isOne(field)) {
      models.add(field, value.textValue());
    } else if (NamedModels.isOne(field)) {
      try (JsonParser again = value.traverse()) {
        again.nextToken();
        models.read(field, again);
      }
    }
  }

  /** The value here; what is plain is read without a context of Jackson's of its own. */
  private JsonNode value(JsonParser parser) throws IOException {
    return switch (parser.currentToken()) {
      case VALUE_STRING -> result.textNode(parser.getText());
      case VALUE_TRUE -> result.booleanNode(true);
      case VALUE_FALSE -> result.booleanNode(false);
      case VALUE_NUMBER_INT ->
          parser.getNumberType() == NumberType.INT
              ? result.numberNode(parser.getIntValue())
              : json.readTree(parser);
      default -> json.readTree(parser);
    };
  }

  private void readMessages(JsonParser parser, String field) throws IOException {
    name = field;
    before = ((ObjectNode) json.createObjectNode()).setAll(result);
    modelsBefore = new NamedModels();
    modelsBefore.copy(models);
    Messages all = messages == null ? new Messages() : messages;
    messages = all;
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      long start = parser.currentTokenLocation().getByteOffset();
      all.add(json.readTree(parser), Math.toIntExact(start + shift));
    }
    ArrayNode list = result.arrayNode(all.count());
    all.addTo(list);
    result.set(field, list);
  }
}
