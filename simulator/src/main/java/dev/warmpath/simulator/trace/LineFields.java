package dev.warmpath.simulator.trace;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Locale;

/**
 * The fields of a line of JSON, with their bounds. All methods throw an {@link
 * IllegalArgumentException} that names the field and what it must be; of a string it quotes
 * nothing.
 *
 * <p>Thread-safe.
 */
final class LineFields {

  /** Most tokens of a prompt or an answer. */
  static final int MOST_TOKENS = TraceBuilder.MOST_TOKENS;

  private static final int HIGHEST_BLOCK = (1 << 30) - 1;
  private static final double MOST_SECONDS = 1e9;
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private LineFields() {}

  /** The JSON object of a line. */
  static JsonNode object(String line) {
    try {
      JsonNode node = MAPPER.readTree(line);
      if (node.isObject()) {
        return node;
      }
    } catch (JsonProcessingException e) {
      // its message would quote the line
    }
    throw new IllegalArgumentException("no JSON object");
  }

  static int whole(JsonNode line, String field, int from, int to) {
    JsonNode value = line.path(field);
    if (!isWhole(value, from, to)) {
      throw wrong(field, value, "a whole number from " + from + " to " + to);
    }
    return value.intValue();
  }

  /** As {@link #whole}, for a field that may be missing. */
  static int whole(JsonNode line, String field, int from, int to, int otherwise) {
    return line.has(field) ? whole(line, field, from, to) : otherwise;
  }

  static double number(JsonNode line, String field) {
    JsonNode value = line.path(field);
    if (!value.isNumber()) {
      throw wrong(field, value, "a number");
    }
    return value.doubleValue();
  }

  /** A number from 0 to 10⁹. */
  static double seconds(JsonNode line, String field) {
    JsonNode value = line.path(field);
    if (!value.isNumber() || !(value.doubleValue() >= 0 && value.doubleValue() <= MOST_SECONDS)) {
      throw wrong(field, value, "a number from 0 to " + (int) MOST_SECONDS);
    }
    return value.doubleValue();
  }

  /** As {@link #seconds}, for a field that may be missing. */
  static double seconds(JsonNode line, String field, double otherwise) {
    return line.has(field) ? seconds(line, field) : otherwise;
  }

  static JsonNode list(JsonNode line, String field) {
    JsonNode value = line.path(field);
    if (!value.isArray()) {
      throw wrong(field, value, "a list");
    }
    return value;
  }

  /** A block's number, or a count of blocks, somewhere inside {@code field}. */
  static int block(JsonNode value, String field) {
    if (!isWhole(value, 0, HIGHEST_BLOCK)) {
      throw new IllegalArgumentException(
          "'%s' has %s, must have whole numbers from 0 to %d"
              .formatted(field, shown(value), HIGHEST_BLOCK));
    }
    return value.intValue();
  }

  static IllegalArgumentException wrong(String field, JsonNode value, String wanted) {
    return new IllegalArgumentException(
        "'%s' is %s, must be %s".formatted(field, shown(value), wanted));
  }

  /** A value as a message may show it: numbers as they are, of others what they are. */
  static String shown(JsonNode value) {
    if (value.isNumber()) {
      return value.asText();
    }
    return value.isMissingNode()
        ? "missing"
        : "a " + value.getNodeType().name().toLowerCase(Locale.ROOT);
  }

  private static boolean isWhole(JsonNode value, int from, int to) {
    return value.isIntegralNumber()
        && value.canConvertToInt()
        && value.intValue() >= from
        && value.intValue() <= to;
  }
}
