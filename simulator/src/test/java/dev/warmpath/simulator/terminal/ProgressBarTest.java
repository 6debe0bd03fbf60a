package dev.warmpath.simulator.terminal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.simulator.terminal.ProgressBar.Unit;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class ProgressBarTest {

  private static final String HALF = "#".repeat(20) + ".".repeat(20);

  private final AtomicLong nanos = new AtomicLong(-7);
  private final StringBuilder out = new StringBuilder();

  @Test
  void saysHowFarHowFastAndHowLongStill() {
    ProgressBar bar = bar("a.wpc.gz", 300_000_000, Unit.MEGABYTES);
    nanos.addAndGet(TimeUnit.SECONDS.toNanos(30));
    bar.show(150_000_000);
    assertThat(out.toString())
        .isEqualTo("\ra.wpc.gz     [" + HALF + "] 150.0/300.0 MB, 5.0 MB/s, 30.0 s left");
    out.setLength(0);
    nanos.addAndGet(TimeUnit.SECONDS.toNanos(90));
    bar.show(300_000_000);
    assertThat(out.toString())
        .startsWith("\ra.wpc.gz     [" + "#".repeat(40) + "] 300.0/300.0 MB, 2.5 MB/s in 2:00 min")
        .endsWith("\n");
  }

  @Test
  void drawsSomeTimesASecondAndWipesALongerLine() {
    ProgressBar bar = bar("warm", 1_000, Unit.COUNT);
    bar.show(0);
    bar.show(1);
    nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(100));
    bar.show(2);
    assertThat(out.toString().chars().filter(c -> c == '\r').count()).isEqualTo(1);
    nanos.addAndGet(TimeUnit.SECONDS.toNanos(10_000));
    bar.show(3);
    int longer = out.length() - out.lastIndexOf("\r");
    nanos.addAndGet(TimeUnit.SECONDS.toNanos(1));
    bar.show(999);
    assertThat(out.length() - out.lastIndexOf("\r")).isEqualTo(longer);
  }

  @Test
  void endsItsLineOnceAndNoneThatItHasNot() {
    bar("x", 10, Unit.COUNT).end();
    assertThat(out.toString()).isEmpty();
    ProgressBar bar = bar("x", 10, Unit.COUNT);
    bar.show(3);
    bar.end();
    bar.show(10);
    bar.end();
    assertThat(out.toString()).endsWith("3/10\n");
  }

  @Test
  void nothingToDoIsDone() {
    bar("x", 0, Unit.COUNT).show(1);
    assertThat(out.toString()).contains("1/1").endsWith("\n");
  }

  private ProgressBar bar(String name, long total, Unit unit) {
    return new ProgressBar(out::append, name, total, unit, nanos::get);
  }
}
