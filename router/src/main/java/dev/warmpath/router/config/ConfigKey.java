package dev.warmpath.router.config;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.net.URI;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One key that a configuration may hold. A configuration is a record: each of its components is a
 * section, or a list of them, and each component of those a {@link Key} or a record of more keys of
 * the same section.
 *
 * <p>Immutable.
 *
 * @param section dotted; {@code []} stands for any item of a list
 * @param type of the record component that holds the value
 * @param declared what its component says, or for the name of a secret's file that of the secret
 * @param advanced whether it or its section is
 * @param reloadable whether it or its section is
 * @param namesFile whether only the configuration may hold it
 */
public record ConfigKey(
    String section,
    String name,
    Class<?> type,
    Key declared,
    boolean advanced,
    boolean reloadable,
    boolean namesFile) {

  private static final ClassValue<Map<String, Map<String, ConfigKey>>> SECTIONS =
      new ClassValue<>() {
        @Override
        protected Map<String, Map<String, ConfigKey>> computeValue(Class<?> root) {
          Map<String, Map<String, ConfigKey>> sections = new LinkedHashMap<>();
          for (RecordComponent component : root.getRecordComponents()) {
            Map<String, ConfigKey> keys = new LinkedHashMap<>();
            declare(component, sectionType(component), component.getAnnotation(Key.class), keys);
            sections.put(sectionPath(component), keys);
          }
          return sections;
        }
      };

  /** All keys of a configuration that is read into {@code root}, in the order of the records. */
  public static List<ConfigKey> all(Class<? extends Record> root) {
    return SECTIONS.get(root).values().stream()
        .flatMap(section -> section.values().stream())
        .toList();
  }

  /** The keys of one section by their names. */
  static Map<String, ConfigKey> ofSection(Class<? extends Record> root, String path) {
    return SECTIONS.get(root).getOrDefault(path, Map.of());
  }

  private static void declare(
      RecordComponent section, Class<?> type, @Nullable Key ofAll, Map<String, ConfigKey> keys) {
    for (RecordComponent component : type.getRecordComponents()) {
      Key key = component.getAnnotation(Key.class);
      if (key == null && component.getType().isRecord()) {
        declare(section, component.getType(), ofAll, keys);
        continue;
      }
      if (key == null
          || isNumber(component.getType()) == Double.isNaN(key.max())
          || (key.secret() && !key.defaultValue().isEmpty())) {
        throw new IllegalStateException("not a key: " + component);
      }
      ConfigKey made =
          new ConfigKey(
              sectionPath(section),
              name(component),
              component.getType(),
              key,
              key.advanced() || (ofAll != null && ofAll.advanced()),
              key.reloadable() || (ofAll != null && ofAll.reloadable()),
              key.namesFile());
      keys.put(made.name(), made);
      if (key.secret()) {
        keys.put(made.fileName(), made.ofFile());
      }
    }
  }

  /** The key that names a file which holds this one's value. */
  private ConfigKey ofFile() {
    return new ConfigKey(section, fileName(), String.class, declared, advanced, reloadable, true);
  }

  /** The name of the key that may name a file instead, if this is a secret. */
  String fileName() {
    return name + "-file";
  }

  /** The name of a component's key or section. */
  public static String name(RecordComponent component) {
    return component.getName().replaceAll("[A-Z]", "-$0").toLowerCase(Locale.ROOT);
  }

  /** Whether a reload changes this key, or all keys of this section. */
  public static boolean isReloadable(RecordComponent component) {
    Key key = component.getAnnotation(Key.class);
    return key != null && key.reloadable();
  }

  public static boolean isSecret(RecordComponent component) {
    Key key = component.getAnnotation(Key.class);
    return key != null && key.secret();
  }

  public static boolean isList(RecordComponent component) {
    return component.getType() == List.class;
  }

  /** The path of a section, with {@code []} if it is a list. */
  static String sectionPath(RecordComponent component) {
    return name(component) + (isList(component) ? "[]" : "");
  }

  /** The record of a section, or of a list's items. */
  static Class<? extends Record> sectionType(RecordComponent component) {
    Class<?> type =
        component.getGenericType() instanceof ParameterizedType list
            ? (Class<?>) list.getActualTypeArguments()[0]
            : component.getType();
    return type.asSubclass(Record.class);
  }

  public static String choice(Object constant) {
    return constant.toString().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  public String path() {
    return section + "." + name;
  }

  /** The default as text; empty for none. */
  public String defaultValue() {
    return declared.defaultValue();
  }

  public boolean isRequired() {
    return declared.required();
  }

  /** Its bounds as documented. */
  public String bounds() {
    if (isNumber(type)) {
      return shown(declared.min()) + " … " + shown(declared.max());
    }
    if (type == boolean.class) {
      return "true, false";
    }
    if (type == List.class) {
      return "list";
    }
    return type == Map.class ? "map of numbers" : String.join(", ", choices());
  }

  private String shown(double bound) {
    return type == int.class ? Long.toString((long) bound) : Double.toString(bound);
  }

  private List<String> choices() {
    return type.isEnum()
        ? Stream.of(type.getEnumConstants()).map(ConfigKey::choice).toList()
        : Arrays.asList(declared.choices());
  }

  private static boolean isNumber(Class<?> type) {
    return type == int.class || type == double.class;
  }

  public boolean isText() {
    return type == String.class || type == URI.class || type.isEnum();
  }

  /** Whether it is made of the keys below its own, which are a replica's. */
  boolean isTemplate() {
    return type == ReplicaTemplate.class;
  }

  /** The value when none is given; null for none. */
  @Nullable Object typedDefault() {
    if (type == List.class) {
      return List.of();
    }
    if (type == Map.class) {
      return Map.of();
    }
    String text = defaultValue();
    if (text.isEmpty()) {
      return null;
    }
    if (type == int.class) {
      return value(Long.valueOf(text));
    }
    if (type == double.class) {
      return value(Double.valueOf(text));
    }
    return value(type == boolean.class ? Boolean.valueOf(text) : text);
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

  private String shape() {
    if (type == int.class) {
      return "a whole number";
    }
    if (type == double.class) {
      return "a number";
    }
    if (type == boolean.class) {
      return "true or false";
    }
    if (type == Map.class) {
      return "a map of numbers";
    }
    return isText() ? "text" : "a list of text";
  }

  private double within(double value) {
    if (value >= declared.min() && value <= declared.max()) {
      return value;
    }
    throw mustBe("a number in " + bounds());
  }

  private Object text(String text) {
    if (text.isBlank()) {
      throw mustBe("text that is not empty");
    }
    if (type == URI.class) {
      try {
        return URI.create(text);
      } catch (IllegalArgumentException e) {
        throw mustBe("a URL");
      }
    }
    int choice = choices().indexOf(text);
    if (choice < 0 && !choices().isEmpty()) {
      throw mustBe("one of " + bounds());
    }
    return type.isEnum() ? type.getEnumConstants()[choice] : text;
  }

  private IllegalArgumentException mustBe(String what) {
    return new IllegalArgumentException("'" + path() + "' must be " + what);
  }

  /** The name that is most like {@code name}. */
  public static String nearest(String name, Collection<String> names) {
    return names.stream()
        .min(Comparator.comparingInt(candidate -> distance(name, candidate)))
        .orElse("");
  }

  /** Edits that turn one word into the other. */
  private static int distance(String a, String b) {
    int[] row = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      row[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int replaced = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(replaced, 1 + Math.min(row[j], row[j - 1]));
      }
    }
    return row[b.length()];
  }
}
