package dev.warmpath.router.reload;

/**
 * A key whose value is another one in another configuration.
 *
 * @param key with the name of a list's item in brackets; {@code replicas[a]} stands for all of it
 * @param before as text; empty for none
 * @param after as text; empty for none
 * @param reloadable whether a reload changes it
 */
public record ConfigChange(String key, String before, String after, boolean reloadable) {

  private static final String NONE = "(none)";

  @Override
  public String toString() {
    return key + ": " + shown(before) + " → " + shown(after);
  }

  private static String shown(String value) {
    return value.isEmpty() ? NONE : value;
  }
}
