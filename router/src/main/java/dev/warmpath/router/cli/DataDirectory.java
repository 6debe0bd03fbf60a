package dev.warmpath.router.cli;

import java.nio.file.Path;
import java.util.Map;

/**
 * Where a user's programs keep what is to outlive them.
 *
 * <p>Immutable.
 */
public final class DataDirectory {

  private static final String STATE_HOME = "XDG_STATE_HOME";

  private DataDirectory() {}

  /** Warmpath's: {@code $XDG_STATE_HOME/warmpath}, else {@code ~/.warmpath/data}. */
  public static Path of(Map<String, String> environment, String home) {
    String state = environment.getOrDefault(STATE_HOME, "");
    return state.isEmpty() ? Path.of(home, ".warmpath", "data") : Path.of(state, "warmpath");
  }
}
