package dev.warmpath.router.config.read;

import java.lang.reflect.RecordComponent;
import java.net.URI;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One key that a configuration may hold, as its {@link Key} describes it.
 *
 * <p>Immutable.
 *
 * @param section dotted; {@code []} stands for any item of a list
 * @param type of the record component that holds the value
 * @param standard the default as text; empty for none
 * @param bounds as documented
 * @param reloadable whether a reload changes it
 * @param namesFile whether only the configuration may hold it
 */
public record ConfigKey(
    String section,
    String name,
    Class<?> type,
    String standard,
    String bounds,
    String meaning,
    boolean advanced,
    boolean reloadable,
    boolean namesFile) {

  private static final String REQUIRED = "required";
  private static final int CELLS = 3;

  /**
   * The key that a record component holds, and the one that may name its file.
   *
   * @param reloadable whether its whole section is
   */
  static Stream<ConfigKey> of(String section, RecordComponent component, boolean reloadable) {
    Class<?> type = component.getType();
    List<String> row = cells(annotation(component));
    ConfigKey key =
        new ConfigKey(
            section,
            name(component),
            type,
            row.get(0),
            bounds(type, row.get(1)),
            row.get(2),
            component.isAnnotationPresent(AdvancedKey.class),
            reloadable || component.isAnnotationPresent(Reloadable.class),
            component.isAnnotationPresent(NamesFile.class));
    return component.isAnnotationPresent(Secret.class)
        ? Stream.of(key, key.ofFile())
        : Stream.of(key);
  }

  /** The key that names a file which holds this one's value. */
  private ConfigKey ofFile() {
    String meaning = "File that holds `" + name + "`.";
    return new ConfigKey(
        section, fileName(), String.class, "", "", meaning, advanced, reloadable, true);
  }

  /** The name of the key that may name a file instead, if this is a secret. */
  String fileName() {
    return name + "-file";
  }

  private static String annotation(RecordComponent component) {
    Key key = component.getAnnotation(Key.class);
    if (key != null) {
      return key.value();
    }
    AdvancedKey advanced = component.getAnnotation(AdvancedKey.class);
    if (advanced != null) {
      return advanced.value();
    }
    throw new IllegalStateException("not a key: " + component);
  }

  private static List<String> cells(String row) {
    List<String> cells = Stream.of(row.split("[|]", CELLS)).map(String::strip).toList();
    if (cells.size() != CELLS) {
      throw new IllegalStateException("row=" + row);
    }
    return cells;
  }

  private static String bounds(Class<?> type, String given) {
    if (type == boolean.class) {
      return "true, false";
    }
    if (type == List.class) {
      return "list";
    }
    if (type == Map.class) {
      return "map of numbers";
    }
    return type.isEnum()
        ? String.join(", ", Stream.of(type.getEnumConstants()).map(ConfigKey::choice).toList())
        : given;
  }

  /** The name of a component's key or section. */
  public static String name(RecordComponent component) {
    return component.getName().replaceAll("[A-Z]", "-$0").toLowerCase(Locale.ROOT);
  }

  public static String choice(Object constant) {
    return constant.toString().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  public String path() {
    return section + "." + name;
  }

  public boolean isRequired() {
    return standard.equals(REQUIRED);
  }

  /** The value when none is given; null for none. */
  @Nullable Object standardValue() {
    if (type == List.class) {
      return List.of();
    }
    if (type == Map.class) {
      return Map.of();
    }
    if (standard.isEmpty() || isRequired()) {
      return null;
    }
    if (type == int.class) {
      return value(Long.valueOf(standard));
    }
    if (type == double.class) {
      return value(Double.valueOf(standard));
    }
    return value(type == boolean.class ? Boolean.valueOf(standard) : standard);
  }

  /**
   * The value as the component takes it.
   *
   * @param given what YAML holds
   * @throws IllegalArgumentException naming the key and what it must be
   */
  Object value(@Nullable Object given) {
    if (type == int.class && given instanceof Long number) {
      return (int) within(number);
    }
    if (type == double.class && given instanceof Number number) {
      return within(number.doubleValue());
    }
    if (type == boolean.class && given instanceof Boolean) {
      return given;
    }
    if (type == List.class
        && given instanceof List<?> list
        && list.stream().allMatch(String.class::isInstance)) {
      return list;
    }
    if (type == Map.class && given instanceof Map<?, ?> map) {
      return numbers(map);
    }
    if (isText() && given instanceof String text) {
      return text(text);
    }
    throw mustBe(shape());
  }

  private Map<String, Double> numbers(Map<?, ?> given) {
    Map<String, Double> numbers = new LinkedHashMap<>();
    given.forEach((name, node) -> {
      if (!(((ConfigNode) node).value() instanceof Number number)) {
        throw mustBe(shape());
      }
      numbers.put(name.toString(), number.doubleValue());
    });
    return numbers;
  }

  public boolean isText() {
    return type == String.class || type == URI.class || type.isEnum();
  }

  private String shape() {
    if (type == int.class) {
      return "a whole number";
    }
    if (type == double.class) {
      return "a number";
    }
    if (type == boolean.class) {
      return bounds.replace(", ", " or ");
    }
    if (type == Map.class) {
      return "a map of numbers";
    }
    return isText() ? "text" : "a list of text";
  }

  private double within(double value) {
    String[] ends = bounds.split(" … ", 2);
    if (value >= Double.parseDouble(ends[0]) && value <= Double.parseDouble(ends[1])) {
      return value;
    }
    throw mustBe("a number in " + bounds);
  }

  private Object text(String text) {
    if (text.isBlank()) {
      throw mustBe("text that is not empty");
    }
    if (type == URI.class) {
      return url(text);
    }
    int choice = bounds.isEmpty() ? 0 : List.of(bounds.split(", ", -1)).indexOf(text);
    if (choice < 0) {
      throw mustBe("one of " + bounds);
    }
    return type.isEnum() ? type.getEnumConstants()[choice] : text;
  }

  private URI url(String text) {
    try {
      return URI.create(text);
    } catch (IllegalArgumentException e) {
      throw mustBe("a URL");
    }
  }

  private IllegalArgumentException mustBe(String what) {
    return new IllegalArgumentException("'" + path() + "' must be " + what);
  }
}
