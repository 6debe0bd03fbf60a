package dev.warmpath.router.config;

import java.util.List;

/**
 * A configuration that cannot be used. Each problem is one line that names its origin (file and
 * line, or flag) and its key.
 *
 * <p>Immutable.
 */
public final class ConfigException extends Exception {

  private static final long serialVersionUID = 1L;

  private final transient List<String> problems;

  public ConfigException(List<String> problems) {
    super(String.join("\n", problems));
    this.problems = List.copyOf(problems);
  }

  public ConfigException(String origin, String problem) {
    this(List.of(origin + ": " + problem));
  }

  /** What is wrong, one line each. */
  public List<String> problems() {
    return problems;
  }
}
