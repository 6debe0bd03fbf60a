package dev.warmpath.simulator.fleet;

import java.util.Locale;

/**
 * What the router's index knows.
 *
 * @param kind where its knowledge comes from
 * @param millis how much later than it happens an engine's change is heard, for {@link Kind#EXACT};
 *     how long a routed prompt counts, for {@link Kind#ROUTED}
 */
public record IndexMode(Kind kind, double millis) {

  /** Where an index's knowledge comes from. */
  public enum Kind {
    /** From the engines' events. */
    EXACT,
    /**
     * From what was routed: each engine holds the prompts that it was last given, as far as they
     * fit its cache, for a time.
     */
    ROUTED
  }

  /** Events are heard when they happen. */
  public static final IndexMode NOW = new IndexMode(Kind.EXACT, 0);

  public IndexMode {
    if (!(millis >= 0 && millis <= 1e9)) {
      throw new IllegalArgumentException("millis=" + millis);
    }
  }

  /**
   * The mode of {@code exact}, {@code delayed:MS}, {@code approx} or {@code approx:SECONDS}.
   *
   * @throws IllegalArgumentException for another, saying which there are
   */
  public static IndexMode parse(String text) {
    String[] parts = text.split(":", 2);
    try {
      double amount = parts.length == 2 ? Double.parseDouble(parts[1]) : Double.NaN;
      boolean given = parts.length == 2;
      if (parts[0].equals("exact") && !given) {
        return NOW;
      } else if (parts[0].equals("delayed") && given) {
        return new IndexMode(Kind.EXACT, amount);
      } else if (parts[0].equals("approx")) {
        return new IndexMode(Kind.ROUTED, given ? 1e3 * amount : 1e9);
      }
    } catch (NumberFormatException e) {
      // said below
    }
    throw new IllegalArgumentException(
        "'" + text + "' is no index, must be exact, delayed:MS, approx or approx:SECONDS");
  }

  @Override
  public String toString() {
    return switch (kind) {
      case EXACT -> millis == 0 ? "exact" : String.format(Locale.ROOT, "delayed:%.0f", millis);
      case ROUTED ->
          millis == 1e9 ? "approx" : String.format(Locale.ROOT, "approx:%.0f", millis / 1e3);
    };
  }
}
