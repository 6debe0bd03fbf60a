package dev.warmpath.router.config;

import dev.warmpath.router.config.ConfigNode.Listing;
import dev.warmpath.router.config.ConfigNode.Mapping;
import dev.warmpath.router.config.ConfigNode.Scalar;
import java.util.ArrayList;
import java.util.List;

/**
 * Compares a configuration with {@link ConfigKeys}: unknown keys, wrong types, values out of
 * bounds. Finds all problems, not the first one. A key without a value counts as left out.
 *
 * <p>Confined to the caller's thread.
 */
final class ConfigCheck {

  private final List<String> problems = new ArrayList<>();

  private ConfigCheck() {}

  static void check(Mapping root) throws ConfigException {
    ConfigCheck check = new ConfigCheck();
    check.mapping(root, "");
    if (!check.problems.isEmpty()) {
      throw new ConfigException(check.problems);
    }
  }

  private void mapping(Mapping mapping, String path) {
    mapping.entries().forEach((key, node) -> entry(path.isEmpty() ? key : path + "." + key, node));
  }

  private void entry(String path, ConfigNode node) {
    ConfigKey key = ConfigKeys.find(path).orElse(null);
    if (isAbsent(node) && (key != null || isKnown(path))) {
      return;
    }
    if (key != null) {
      value(key, node);
    } else if (ConfigKeys.isSection(path)) {
      section(path, node);
    } else if (ConfigKeys.isSection(path + "[]")) {
      list(path, node);
    } else {
      report(node, "unknown key '" + path + "'; did you mean '" + ConfigKeys.nearest(path) + "'?");
    }
  }

  private static boolean isAbsent(ConfigNode node) {
    return node instanceof Scalar scalar && scalar.value() == null;
  }

  private static boolean isKnown(String path) {
    return ConfigKeys.isSection(path) || ConfigKeys.isSection(path + "[]");
  }

  private void section(String path, ConfigNode node) {
    if (node instanceof Mapping mapping) {
      mapping(mapping, path);
    } else {
      report(node, "'" + path + "' must hold keys and values");
    }
  }

  private void list(String path, ConfigNode node) {
    if (node instanceof Listing listing) {
      listing.items().forEach(item -> section(path + "[]", item));
    } else {
      report(node, "'" + path + "' must be a list");
    }
  }

  private void value(ConfigKey key, ConfigNode node) {
    if (key.kind() == ConfigKey.Kind.TEXTS && isTexts(node)) {
      return;
    }
    Object value = node instanceof Scalar scalar ? scalar.value() : node;
    String problem = key.problem(value);
    if (problem != null) {
      report(node, problem);
    }
  }

  private static boolean isTexts(ConfigNode node) {
    return node instanceof Listing listing
        && listing.items().stream()
            .allMatch(item -> item instanceof Scalar s && s.value() instanceof String);
  }

  private void report(ConfigNode node, String problem) {
    problems.add(node.origin() + ": " + problem);
  }
}
