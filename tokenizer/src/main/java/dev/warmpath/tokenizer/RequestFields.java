package dev.warmpath.tokenizer;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.jspecify.annotations.Nullable;

/**
 * The fields of a request body, read with their types checked; the first field that is wrong is
 * remembered, and the defaults stand in for it.
 *
 * <p>The engine coerces some wrong types and refuses others. Here all of them are a problem: such a
 * request is not worth guessing at.
 *
 * <p>Confined to the thread that reads the request.
 */
final class RequestFields {

  private final ObjectNode body;
  private @Nullable String problem;

  RequestFields(ObjectNode body) {
    this.body = body;
  }

  /** What is wrong with the fields read so far, or null. */
  @Nullable String problem() {
    return problem;
  }

  /** Whether the field is there and not null. */
  boolean has(String field) {
    return body.hasNonNull(field);
  }

  JsonNode node(String field) {
    return body.path(field);
  }

  boolean flag(String field, boolean absent) {
    JsonNode node = body.path(field);
    if (isAbsent(node)) {
      return absent;
    }
    return node.isBoolean() ? node.booleanValue() : wrong(field, "true or false", absent);
  }

  long integer(String field, long absent) {
    JsonNode node = body.path(field);
    if (isAbsent(node)) {
      return absent;
    }
    boolean fits = node.isIntegralNumber() && node.canConvertToLong();
    return fits ? node.longValue() : wrong(field, "an integer", absent);
  }

  @Nullable String text(String field) {
    JsonNode node = body.path(field);
    if (isAbsent(node)) {
      return null;
    }
    if (node.isTextual()) {
      return node.textValue();
    }
    wrong(field, "a string");
    return null;
  }

  /** Notes that {@code field} does not hold what it should. */
  void wrong(String field, String expected) {
    if (problem == null) {
      problem = field + " must be " + expected;
    }
  }

  private <T> T wrong(String field, String expected, T absent) {
    wrong(field, expected);
    return absent;
  }

  private static boolean isAbsent(JsonNode node) {
    return node.isMissingNode() || node.isNull();
  }
}
