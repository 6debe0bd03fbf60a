package dev.warmpath.router.config;

import dev.warmpath.router.config.ConfigNode.Listing;
import dev.warmpath.router.config.ConfigNode.Mapping;
import java.io.IOException;
import java.lang.reflect.RecordComponent;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Turns nodes into records. A value that is not given has its key's default. Finds all problems,
 * not the first one: unknown keys, wrong types, values out of bounds, and what a record rejects.
 *
 * <p>Confined to the caller's thread.
 */
public final class ConfigReader {

  private final Class<? extends Record> root;
  private final boolean mayNameFiles;
  private final List<String> problems = new ArrayList<>();

  private ConfigReader(Class<? extends Record> root, boolean mayNameFiles) {
    this.root = root;
    this.mayNameFiles = mayNameFiles;
  }

  /**
   * Reads a whole configuration.
   *
   * @throws ConfigException with every problem of it
   */
  public static <T extends Record> T read(Class<T> root, Mapping given) throws ConfigException {
    ConfigReader reader = new ConfigReader(root, true);
    Object config = reader.root(given);
    reader.throwProblems();
    return root.cast(Objects.requireNonNull(config));
  }

  /**
   * Reads items of a list of a configuration, which stand in a list of their own.
   *
   * @param section the list's path, with {@code []}
   * @param mayNameFiles whether they are written by who writes the configuration
   * @throws ConfigException with every problem of any of them
   */
  public static <T extends Record> List<T> items(
      Class<? extends Record> root,
      String section,
      Class<T> type,
      Listing list,
      boolean mayNameFiles)
      throws ConfigException {
    ConfigReader reader = new ConfigReader(root, mayNameFiles);
    List<T> items = new ArrayList<>();
    for (ConfigNode node : list.items()) {
      Object item = reader.section(type, section, node);
      if (item != null) {
        items.add(type.cast(item));
      }
    }
    reader.throwProblems();
    return items;
  }

  private void throwProblems() throws ConfigException {
    if (!problems.isEmpty()) {
      throw new ConfigException(problems);
    }
  }

  private @Nullable Object root(Mapping given) {
    RecordComponent[] sections = root.getRecordComponents();
    rejectUnknown(given, "", Stream.of(sections).map(ConfigKey::name).toList());
    List<@Nullable Object> values = new ArrayList<>();
    for (RecordComponent section : sections) {
      ConfigNode node = given.given(ConfigKey.name(section));
      values.add(ConfigKey.isList(section) ? list(section, node) : section(section, node, given));
    }
    return problems.isEmpty() ? construct(root, values, given.origin()) : null;
  }

  private @Nullable Object section(
      RecordComponent section, @Nullable ConfigNode node, Mapping given) {
    ConfigNode found = node == null ? new Mapping(Map.of(), given.origin()) : node;
    return section(ConfigKey.sectionType(section), ConfigKey.sectionPath(section), found);
  }

  private @Nullable List<@Nullable Object> list(
      RecordComponent section, @Nullable ConfigNode node) {
    if (node != null && !(node instanceof Listing)) {
      report(node.origin(), "'" + ConfigKey.name(section) + "' must be a list");
      return null;
    }
    List<ConfigNode> items = node instanceof Listing listing ? listing.items() : List.of();
    List<@Nullable Object> records = new ArrayList<>();
    for (ConfigNode item : items) {
      records.add(section(ConfigKey.sectionType(section), ConfigKey.sectionPath(section), item));
    }
    return records;
  }

  private @Nullable Object section(Class<? extends Record> type, String path, ConfigNode node) {
    if (node instanceof Mapping mapping) {
      rejectUnknown(mapping, path + ".", ConfigKey.ofSection(root, path).keySet());
      return fields(type, path, mapping);
    }
    report(node.origin(), "'" + path + "' must hold keys and values");
    return null;
  }

  private void rejectUnknown(Mapping mapping, String prefix, Collection<String> known) {
    mapping
        .entries()
        .forEach((name, node) -> {
          if (!known.contains(name)) {
            String nearest = prefix + ConfigKey.nearest(name, known);
            report(
                node.origin(),
                "unknown key '" + prefix + name + "'; did you mean '" + nearest + "'?");
          }
        });
  }

  private @Nullable Object fields(Class<? extends Record> type, String path, Mapping mapping) {
    int before = problems.size();
    List<@Nullable Object> values = new ArrayList<>();
    for (RecordComponent component : type.getRecordComponents()) {
      values.add(value(component, path, mapping));
    }
    String origin = mapping.origin() + (path.endsWith("[]") ? ": " + path : "");
    return problems.size() > before ? null : construct(type, values, origin);
  }

  private @Nullable Object value(RecordComponent component, String path, Mapping mapping) {
    ConfigKey key = ConfigKey.ofSection(root, path).get(ConfigKey.name(component));
    return key == null
        ? fields(component.getType().asSubclass(Record.class), path, mapping)
        : value(key, mapping);
  }

  private @Nullable Object value(ConfigKey key, Mapping mapping) {
    ConfigNode node = mapping.given(key.name());
    if (key.isTemplate()) {
      return template(key, node == null ? new Mapping(Map.of(), mapping.origin()) : node);
    }
    if (node != null && key.namesFile() && !mayNameFiles) {
      report(node.origin(), "only the configuration may name files: '" + key.path() + "'");
      return null;
    }
    ConfigKey file = ConfigKey.ofSection(root, key.section()).get(key.fileName());
    if (file != null && mapping.given(file.name()) != null) {
      return secret(key, file, mapping);
    }
    if (node == null) {
      if (key.isRequired()) {
        report(mapping.origin(), "'" + key.path() + "' is missing");
      }
      return key.typedDefault();
    }
    try {
      return key.value(node.value());
    } catch (IllegalArgumentException e) {
      report(node.origin(), String.valueOf(e.getMessage()));
      return null;
    }
  }

  /** The value of a key that a file holds. */
  private @Nullable Object secret(ConfigKey key, ConfigKey named, Mapping mapping) {
    Object file = value(named, mapping);
    if (mapping.given(key.name()) != null) {
      report(
          mapping.origin(), "'" + key.path() + "' and '" + named.path() + "' exclude each other");
    } else if (file != null) {
      try {
        Path path = Path.of(file.toString());
        return key.value(YamlReader.text(BoundedRead.now(path), file.toString()).strip());
      } catch (IOException | ConfigException | IllegalArgumentException e) {
        report(mapping.origin(), "'" + named.path() + "': " + e.getMessage());
      }
    }
    return null;
  }

  private @Nullable Object template(ConfigKey key, ConfigNode node) {
    if (!(node instanceof Mapping given)) {
      report(node.origin(), "'" + key.path() + "' must hold keys and values");
      return null;
    }
    try {
      return ReplicaTemplate.of(given);
    } catch (ConfigException e) {
      problems.addAll(e.problems());
      return null;
    }
  }

  private @Nullable Object construct(
      Class<? extends Record> type, List<@Nullable Object> values, String origin) {
    try {
      return Records.construct(type, values);
    } catch (IllegalArgumentException e) {
      report(origin, String.valueOf(e.getMessage()));
      return null;
    }
  }

  private void report(String origin, String problem) {
    problems.add(origin + ": " + problem);
  }
}
