package dev.warmpath.tokenizer.body;

import com.fasterxml.jackson.databind.JsonNode;
import org.jspecify.annotations.Nullable;

/**
 * Fields of a request's JSON, read with their types checked. The engine coerces some wrong types
 * and refuses others; here all of them are {@linkplain FallbackCause#INVALID_REQUEST refused}. A
 * null counts as absent.
 */
public final class Fields {

  private Fields() {}

  public static boolean isAbsent(JsonNode node) {
    return node.isNull() || node.isMissingNode();
  }

  public static boolean isTextOrAbsent(JsonNode node) {
    return node.isTextual() || isAbsent(node);
  }

  /** The text of a field, or null. */
  public static @Nullable String text(JsonNode owner, String field) {
    JsonNode value = owner.path(field);
    require(isTextOrAbsent(value), field, "text");
    return value.textValue();
  }

  /** The same, with nothing for no text. */
  public static String textOrEmpty(JsonNode owner, String field) {
    String text = text(owner, field);
    return text == null ? "" : text;
  }

  /** The text of a field that must be there. */
  public static String requiredText(JsonNode owner, String field) {
    require(owner.path(field).isTextual(), field, "text");
    return owner.path(field).textValue();
  }

  public static JsonNode objectOrAbsent(JsonNode owner, String field) {
    JsonNode value = owner.path(field);
    require(value.isObject() || isAbsent(value), field, "an object");
    return value;
  }

  public static JsonNode listOrAbsent(JsonNode owner, String field) {
    JsonNode value = owner.path(field);
    require(value.isArray() || isAbsent(value), field, "a list");
    return value;
  }

  /** A list with at least one item. */
  public static JsonNode requiredList(JsonNode owner, String field) {
    JsonNode value = owner.path(field);
    require(value.isArray() && !value.isEmpty(), field, "a list that is not empty");
    return value;
  }

  public static JsonNode flagOrAbsent(JsonNode owner, String field) {
    JsonNode value = owner.path(field);
    require(value.isBoolean() || isAbsent(value), field, "true or false");
    return value;
  }

  public static boolean flag(JsonNode owner, String field, boolean absent) {
    return flagOrAbsent(owner, field).asBoolean(absent);
  }

  public static long integer(JsonNode owner, String field, long absent) {
    JsonNode value = owner.path(field);
    boolean fits = value.isIntegralNumber() && value.canConvertToLong();
    require(fits || isAbsent(value), field, "an integer");
    return fits ? value.longValue() : absent;
  }

  /** Refuses a field that does not hold what it should. */
  public static void require(boolean holds, String field, String expected) {
    if (!holds) {
      throw InexactPromptException.invalid(field + " must be " + expected);
    }
  }
}
