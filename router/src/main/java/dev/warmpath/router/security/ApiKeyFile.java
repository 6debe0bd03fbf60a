package dev.warmpath.router.security;

import dev.warmpath.router.config.ConfigException;
import dev.warmpath.router.config.ConfigNode.Mapping;
import dev.warmpath.router.config.ConfigReader;
import dev.warmpath.router.config.YamlReader;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The file of API keys.
 *
 * <p>Immutable.
 */
public record ApiKeyFile(List<ApiKeyConfig> keys) {

  /** Each name is a metric label. */
  private static final int MOST_NAMES = 10_000;

  public ApiKeyFile {
    keys = List.copyOf(keys);
    if (keys.size() > MOST_NAMES) {
      throw new IllegalArgumentException("'keys' has more than " + MOST_NAMES + " entries");
    }
    Set<String> seen = new HashSet<>();
    for (ApiKeyConfig key : keys) {
      if (!seen.add(key.name())) {
        throw new IllegalArgumentException("'keys': name '" + key.name() + "' is given twice");
      }
      for (String hash : key.sha256()) {
        if (!seen.add(hash)) {
          throw new IllegalArgumentException(
              "'keys': '" + key.name() + "' has a hash that is given twice");
        }
      }
    }
  }

  /**
   * Reads the file's text.
   *
   * @param file what errors call it
   */
  public static ApiKeyFile parse(String yaml, String file) throws ConfigException {
    Mapping given = YamlReader.read(yaml, file);
    if (given.given("keys") == null) {
      throw new ConfigException(file, "'keys' is missing; keys: [] admits nobody");
    }
    return ConfigReader.read(ApiKeyFile.class, given);
  }
}
