package dev.warmpath.router.config;

import dev.warmpath.router.config.ConfigNode.Listing;
import dev.warmpath.router.config.ConfigNode.Mapping;
import dev.warmpath.router.config.ConfigNode.Scalar;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A configuration as written, before it is checked: a file, or nothing, with flags laid over it.
 * {@link #config()} checks all of it.
 *
 * <p>Immutable.
 */
public final class ConfigTree {

  private final Mapping root;

  private ConfigTree(Mapping root) {
    this.root = root;
  }

  /** A configuration in which everything has its default. */
  public static ConfigTree empty() {
    return new ConfigTree(new Mapping(Map.of(), "defaults"));
  }

  /** Reads a YAML file. */
  public static ConfigTree read(Path file) throws ConfigException {
    try {
      return parse(YamlReader.text(BoundedRead.now(file), file.toString()), file.toString());
    } catch (IOException e) {
      throw new ConfigException(List.of(String.valueOf(e.getMessage())));
    }
  }

  /** Reads YAML; {@code file} is what errors call it. */
  public static ConfigTree parse(String yaml, String file) throws ConfigException {
    return new ConfigTree(YamlReader.read(yaml, file));
  }

  /**
   * Reads one replica, in JSON or YAML, which may name no files; {@code origin} is what errors call
   * the text.
   */
  public static ReplicaConfig replica(String text, String origin) throws ConfigException {
    return replicas(new Listing(List.of(YamlReader.read(text, origin)), origin), false).get(0);
  }

  /**
   * Reads a list of replicas and nothing else, in YAML or JSON, which may name no files; {@code
   * file} is what errors call it.
   */
  public static List<ReplicaConfig> replicas(String text, String file) throws ConfigException {
    List<ReplicaConfig> replicas = replicas(YamlReader.readList(text, file), false);
    try {
      RouterConfig.distinct("replicas", replicas.stream().map(ReplicaConfig::name).toList());
    } catch (IllegalArgumentException e) {
      throw new ConfigException(file, String.valueOf(e.getMessage()));
    }
    return List.copyOf(replicas);
  }

  static List<ReplicaConfig> replicas(Listing list, boolean mayNameFiles) throws ConfigException {
    return ConfigReader.items(
        RouterConfig.class, "replicas[]", ReplicaConfig.class, list, mayNameFiles);
  }

  /** Sets one value; {@code path} is {@code section.key} or {@code section.key.option}. */
  public ConfigTree set(String path, Object value, String origin) {
    Object yaml = value instanceof Integer number ? (Object) number.longValue() : value;
    return new ConfigTree(set(root, path, new Scalar(yaml, origin)));
  }

  /** Sets one value of a section where none is given. */
  public ConfigTree orElse(String path, Object value) {
    int dot = path.indexOf('.');
    Mapping section = root.child(path.substring(0, dot), root.origin());
    return section.given(path.substring(dot + 1)) == null ? set(path, value, "default") : this;
  }

  private static Mapping set(Mapping mapping, String path, ConfigNode value) {
    int dot = path.indexOf('.');
    if (dot < 0) {
      return mapping.with(path, value);
    }
    String key = path.substring(0, dot);
    Mapping below = mapping.child(key, value.origin());
    return mapping.with(key, set(below, path.substring(dot + 1), value));
  }

  /** Sets one value from text that is read as YAML, so that {@code 5} is a number. */
  public ConfigTree setText(String path, String yaml, String origin) throws ConfigException {
    ConfigNode value = YamlReader.read("value: " + yaml, origin).given("value");
    if (value == null) {
      throw new ConfigException(origin, "'" + path + "' cannot be set to '" + yaml + "' here");
    }
    return value instanceof Scalar scalar && scalar.value() != null
        ? set(path, scalar.value(), origin)
        : new ConfigTree(set(root, path, value));
  }

  /** The same for one key: what is text there need not be quoted. */
  ConfigTree setText(ConfigKey key, String value, String origin) throws ConfigException {
    return key.isText() ? set(key.path(), value, origin) : setText(key.path(), value, origin);
  }

  /** Sets a list of sections from text that is read as YAML, or as JSON. */
  ConfigTree setList(String list, String yaml, String origin) throws ConfigException {
    return new ConfigTree(root.with(list, YamlReader.readList(yaml, origin)));
  }

  /** Adds an item to a list of sections, in place of the one of the same name. */
  public ConfigTree put(String list, Map<String, ?> item, String origin) {
    Map<String, ConfigNode> entries = new LinkedHashMap<>();
    item.forEach((key, value) -> entries.put(key, ConfigNode.of(value, origin)));
    String name = String.valueOf(item.get("name"));
    List<ConfigNode> items = root.items(list);
    items.removeIf(other -> other instanceof Mapping mapping && mapping.named(name));
    items.add(new Mapping(entries, origin));
    return new ConfigTree(root.with(list, new Listing(items, origin)));
  }

  /** The validated configuration; its error holds every problem. */
  public RouterConfig config() throws ConfigException {
    return ConfigReader.read(RouterConfig.class, root);
  }
}
