package dev.warmpath.router.doctor;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What one check found of one replica, engine or the router.
 *
 * @param subject a replica's name, {@code replica/rank}, or {@value #ROUTER}
 * @param check the check's name
 * @param found what it found, a sentence
 * @param change what to change; null if nothing has to
 */
public record Finding(
    Level level, String subject, String check, String found, @Nullable String change) {

  /** The subject of what concerns no single replica. */
  public static final String ROUTER = "router";

  /** How bad it is. */
  public enum Level {
    OK,
    /** Requests are served, but something that Warmpath offers is missing. */
    WARN,
    /** Requests fail, or predictions are wrong or missing. */
    FAIL;

    /** The name in reports. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }
}
