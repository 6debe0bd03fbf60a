package dev.warmpath.simulator.terminal;

import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * One line that fills up, with the rate and the time that is left.
 *
 * <p>Thread-safe.
 */
public final class ProgressBar {

  /** What is counted. */
  public enum Unit {
    COUNT(1, "%.0f", ""),
    MEGABYTES(1e6, "%.1f", " MB");

    private final double size;
    private final String format;
    private final String name;

    Unit(double size, String format, String name) {
      this.size = size;
      this.format = format;
      this.name = name;
    }

    private String figure(double amount) {
      return String.format(Locale.ROOT, format, amount / size);
    }
  }

  private static final int WIDTH = 40;
  private static final long OFTEN_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  private final Consumer<String> out;
  private final String name;
  private final long total;
  private final Unit unit;
  private final LongSupplier nanoClock;
  private final long beganNanos;
  private long shownNanos;
  private int length;
  private boolean over;

  /**
   * @param out takes pieces of text; lines end where one has a line feed
   * @param total when all is done
   */
  public ProgressBar(
      Consumer<String> out, String name, long total, Unit unit, LongSupplier nanoClock) {
    this.out = out;
    this.name = name;
    this.total = Math.max(1, total);
    this.unit = unit;
    this.nanoClock = nanoClock;
    beganNanos = nanoClock.getAsLong();
    shownNanos = beganNanos - OFTEN_NANOS;
  }

  /** Shows that so many are done, some times a second; numbers may come out of order. */
  public synchronized void show(long done) {
    long now = nanoClock.getAsLong();
    if (!over && (done >= total || now - shownNanos >= OFTEN_NANOS)) {
      shownNanos = now;
      over = done >= total;
      draw(Math.min(done, total), (now - beganNanos) / 1e9);
    }
  }

  /** Ends the line, whether or not all is done. */
  public synchronized void end() {
    if (!over && length > 0) {
      out.accept("\n");
    }
    over = true;
  }

  private void draw(long done, double seconds) {
    int filled = (int) (WIDTH * done / total);
    String bar = "#".repeat(filled) + ".".repeat(WIDTH - filled);
    String amount = unit.figure((double) done) + "/" + unit.figure((double) total) + unit.name;
    String line = String.format("%-12s [%s] %s%s", name, bar, amount, times(done, seconds));
    String rest = " ".repeat(Math.max(0, length - line.length()));
    length = line.length();
    out.accept("\r" + line + rest + (over ? "\n" : ""));
  }

  private String times(long done, double seconds) {
    if (done == 0 || seconds <= 0) {
      return "";
    }
    String rate = ", " + unit.figure(done / seconds) + unit.name + "/s";
    return over
        ? rate + " in " + time(seconds)
        : rate + ", " + time(seconds * (total - done) / done) + " left";
  }

  private static String time(double seconds) {
    long whole = Math.round(seconds);
    return whole < 60
        ? String.format(Locale.ROOT, "%.1f s", seconds)
        : String.format(Locale.ROOT, "%d:%02d min", whole / 60, whole % 60);
  }
}
