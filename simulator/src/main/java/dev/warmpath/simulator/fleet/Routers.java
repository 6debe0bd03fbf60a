package dev.warmpath.simulator.fleet;

import java.util.Locale;

/**
 * The routers in front of a fleet. Each hears every engine's events.
 *
 * @param count how many; requests are spread over them at random
 * @param bySession whether those of one session go to one router instead
 * @param sharing what they tell each other; without effect for one
 */
public record Routers(int count, boolean bySession, Sharing sharing) {

  /** A single one. */
  public static final Routers ONE = new Routers(1, false, Sharing.OFF);

  /**
   * How long what one router tells is on its way to another.
   *
   * @param millis at least; negative if they tell each other nothing
   * @param jitterMillis at most so much longer, evenly
   * @param loss share of messages that do not arrive
   */
  public record Sharing(double millis, double jitterMillis, double loss) {

    /** They do not know of each other. */
    public static final Sharing OFF = new Sharing(-1, 0, 0);

    public Sharing {
      if (!(millis <= 1e9 && jitterMillis >= 0 && jitterMillis <= 1e9 && loss >= 0 && loss < 1)) {
        throw new IllegalArgumentException(
            "millis=" + millis + " jitterMillis=" + jitterMillis + " loss=" + loss);
      }
    }

    /**
     * Of {@code off}, {@code MS}, {@code MS:JITTER} or {@code MS:JITTER:LOSS}.
     *
     * @throws IllegalArgumentException for another, saying which there are
     */
    public static Sharing parse(String text) {
      if (text.equals("off")) {
        return OFF;
      }
      String[] parts = text.split(":", -1);
      try {
        double millis = Double.parseDouble(parts[0]);
        double jitter = parts.length > 1 ? Double.parseDouble(parts[1]) : 0;
        double loss = parts.length > 2 ? Double.parseDouble(parts[2]) : 0;
        if (parts.length <= 3 && millis >= 0) {
          return new Sharing(millis, jitter, loss);
        }
      } catch (NumberFormatException e) {
        // said below
      }
      throw new IllegalArgumentException(
          "'" + text + "' must be off, MS, MS:JITTER_MS or MS:JITTER_MS:LOSS");
    }

    boolean isOn() {
      return millis >= 0;
    }

    @Override
    public String toString() {
      if (!isOn()) {
        return "off";
      }
      String tail = loss > 0 ? ":" + text(jitterMillis) + ":" + text(loss) : "";
      return text(millis) + (tail.isEmpty() && jitterMillis > 0 ? ":" + text(jitterMillis) : tail);
    }

    private static String text(double number) {
      return number == Math.rint(number) ? Long.toString((long) number) : Double.toString(number);
    }
  }

  public Routers {
    if (count < 1) {
      throw new IllegalArgumentException("routers=" + count);
    }
  }

  boolean isSharing() {
    return count > 1 && sharing.isOn();
  }

  /** Which of them gets a request; the same for the same seed. */
  int of(int request, @org.jspecify.annotations.Nullable String session, long seed) {
    if (count == 1) {
      return 0;
    }
    long who = bySession && session != null ? (long) session.hashCode() << 32 : request;
    return (int) Long.remainderUnsigned(Workload.mixed(Workload.mixed(who) + seed), count);
  }

  @Override
  public String toString() {
    return count == 1
        ? "1 router"
        : String.format(
            Locale.ROOT,
            "%d routers%s, %s",
            count,
            bySession ? " by session" : "",
            sharing.isOn() ? sharing + " ms" : "apart");
  }
}
