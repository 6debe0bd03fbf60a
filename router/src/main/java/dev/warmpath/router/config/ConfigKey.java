package dev.warmpath.router.config;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * One key that a configuration may hold: its type, default, bounds and meaning.
 *
 * <p>Immutable.
 *
 * @param path dotted; {@code []} stands for any item of a list
 * @param defaultValue null: required inside a list item, else absent by default
 * @param choices the only values of a text key; empty for any
 */
public record ConfigKey(
    String path,
    Kind kind,
    @Nullable Object defaultValue,
    double minimum,
    double maximum,
    List<String> choices,
    String meaning) {

  /** What a value must be. */
  public enum Kind {
    TEXT,
    INTEGER,
    DECIMAL,
    BOOLEAN,
    TEXTS
  }

  public ConfigKey {
    choices = List.copyOf(choices);
  }

  static ConfigKey integer(String path, long standard, long minimum, long maximum, String meaning) {
    return new ConfigKey(path, Kind.INTEGER, standard, minimum, maximum, List.of(), meaning);
  }

  static ConfigKey decimal(
      String path, double standard, double minimum, double maximum, String meaning) {
    return new ConfigKey(path, Kind.DECIMAL, standard, minimum, maximum, List.of(), meaning);
  }

  static ConfigKey text(String path, @Nullable String standard, String meaning) {
    return new ConfigKey(path, Kind.TEXT, standard, 0, 0, List.of(), meaning);
  }

  static ConfigKey choice(
      String path, @Nullable String standard, List<String> choices, String meaning) {
    return new ConfigKey(path, Kind.TEXT, standard, 0, 0, choices, meaning);
  }

  static ConfigKey bool(String path, boolean standard, String meaning) {
    return new ConfigKey(path, Kind.BOOLEAN, standard, 0, 0, List.of(), meaning);
  }

  static ConfigKey texts(String path, String meaning) {
    return new ConfigKey(path, Kind.TEXTS, List.of(), 0, 0, List.of(), meaning);
  }

  /** The bounds as documentation says them; empty when there are none. */
  public String bounds() {
    return switch (kind) {
      case INTEGER -> String.format(Locale.ROOT, "%.0f … %.0f", minimum, maximum);
      case DECIMAL -> String.format(Locale.ROOT, "%s … %s", minimum, maximum);
      case BOOLEAN -> "true, false";
      case TEXT -> String.join(", ", choices);
      case TEXTS -> "list";
    };
  }

  /** What is wrong with {@code value}, or null if nothing is. */
  @Nullable String problem(@Nullable Object value) {
    return switch (kind) {
      case INTEGER -> value instanceof Long number ? outOfBounds(number) : wants("a whole number");
      case DECIMAL ->
          value instanceof Number number ? outOfBounds(number.doubleValue()) : wants("a number");
      case BOOLEAN -> value instanceof Boolean ? null : wants("true or false");
      case TEXT -> value instanceof String text ? notOffered(text) : wants("text");
      case TEXTS -> wants("a list of text");
    };
  }

  private @Nullable String outOfBounds(double value) {
    return value >= minimum && value <= maximum ? null : wants("a number in " + bounds());
  }

  private @Nullable String notOffered(String value) {
    if (value.isBlank()) {
      return wants("text that is not empty");
    }
    return choices.isEmpty() || choices.contains(value) ? null : wants("one of " + bounds());
  }

  private String wants(String what) {
    return "'" + path + "' must be " + what;
  }
}
