package dev.warmpath.router.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.rig.Rig;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class HeapWatchTest {

  private final AtomicLong clock = new AtomicLong(Long.MAX_VALUE - 5);
  private final AtomicInteger deaths = new AtomicInteger();
  private final AtomicInteger shrinks = new AtomicInteger();
  private final HeapWatch watch =
      new HeapWatch(clock::get, 1_000, deaths::incrementAndGet, shrinks::incrementAndGet);

  @Test
  void isFullWhileTheLastCollectionLeftLittle() {
    assertThat(watch.isFull()).isFalse();
    watch.collected(899, 1_000);
    assertThat(watch.isFull()).isFalse();
    watch.collected(900, 1_000);
    assertThat(watch.isFull()).isTrue();
    assertThat(watch.share()).isEqualTo(0.9);
    watch.collected(500, 1_000);
    assertThat(watch.isFull()).isFalse();
  }

  @Test
  void anOldReportKeepsNobodyOut() {
    watch.collected(990, 1_000);
    pass(1_999);
    assertThat(watch.isFull()).isTrue();
    pass(1);
    assertThat(watch.isFull()).as("without requests there may be no collection").isFalse();
  }

  @Test
  void aHeapThatStaysFullIsDead() {
    for (int i = 0; i < 30; i++) {
      watch.collected(980, 1_000);
      pass(1_000);
    }
    assertThat(deaths).hasValue(0);
    watch.collected(980, 1_000);
    assertThat(deaths).hasValue(1);
  }

  @Test
  void oneCollectionThatHelpsBeginsAnew() {
    for (int i = 0; i < 100; i++) {
      watch.collected(i % 20 == 0 ? 960 : 1_000, 1_000);
      pass(1_000);
    }
    assertThat(deaths).hasValue(0);
  }

  @Test
  void aFewCollectionsAreNoProof() {
    for (int i = 0; i < 9; i++) {
      watch.collected(1_000, 1_000);
      pass(60_000);
    }
    assertThat(deaths).hasValue(0);
  }

  @Test
  void hearsOfThisProcessCollections() {
    try (HeapWatch real = new HeapWatch(System::nanoTime, 1 << 20, () -> {}, () -> {}).begin()) {
      Rig.until(() -> {
        System.gc();
        return real.share() > 0;
      });
    }
  }

  @Test
  void aHeapThatStaysMuchTooLargeShrinksOnceAMinute() {
    for (int second = 0; second < 60; second++) {
      watch.collected(100 << 20, 500 << 20);
      pass(1_000);
    }
    assertThat(shrinks).hasValue(0);
    for (int second = 60; second < 121; second++) {
      watch.collected(100 << 20, 500 << 20);
      pass(1_000);
    }
    assertThat(shrinks).hasValue(2);
  }

  @Test
  void hearsOnWhenItCannotShrink() {
    HeapWatch failing =
        new HeapWatch(
            clock::get,
            1_000,
            deaths::incrementAndGet,
            () -> {
              throw new OutOfMemoryError("unable to create native thread");
            });
    for (int second = 0; second < 100; second++) {
      failing.collected(second, 500 << 20);
      pass(1_000);
    }
    assertThat(failing.share()).isEqualTo(0.099);
  }

  @Test
  void aHeapThatIsNeededOrSmallStays() {
    for (int second = 0; second < 600; second++) {
      watch.collected(second % 30 == 0 ? 126 << 20 : 100 << 20, 500 << 20);
      pass(1_000);
    }
    for (int second = 0; second < 600; second++) {
      watch.collected(1 << 20, 256 << 20);
      pass(1_000);
    }
    assertThat(shrinks).hasValue(0);
  }

  private void pass(long millis) {
    clock.addAndGet(TimeUnit.MILLISECONDS.toNanos(millis));
  }
}
