package dev.warmpath.simulator.demo;

import java.util.function.Consumer;

/**
 * One line that fills up.
 *
 * <p>Thread-safe.
 */
final class ProgressBar {

  private static final int WIDTH = 40;

  private final Consumer<String> out;
  private final String name;
  private final int total;
  private int shown = -1;

  ProgressBar(Consumer<String> out, String name, int total) {
    this.out = out;
    this.name = name;
    this.total = total;
  }

  /** Shows that so many are done; numbers may come out of order. */
  synchronized void show(int done) {
    int filled = (int) ((long) WIDTH * done / total);
    boolean news = filled > shown || done == total;
    if (!news) {
      return;
    }
    shown = filled;
    String bar = "#".repeat(filled) + ".".repeat(WIDTH - filled);
    String end = done == total ? "\n" : "";
    out.accept(String.format("\r%-12s [%s] %d/%d%s", name, bar, done, total, end));
  }
}
