package dev.warmpath.eventingest.ring;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
final class IndexWriterTest {

  private final IndexWriter writer = new IndexWriter(() -> {});
  private final RingBytes bytes = new RingBytes(1 << 20);
  private final EngineRing flooded = ring();
  private final EngineRing quiet = ring();

  @Test
  void enginesTakeTurnsHoweverMuchOneSends() {
    List<String> ran = new ArrayList<>();
    for (int i = 0; i < 1000; i++) {
      flooded.offer(() -> ran.add("flood"), 1);
    }
    quiet.offer(() -> ran.add("quiet"), 1);
    flooded.command(writer::close);
    writer.run();

    assertThat(ran).hasSize(1001);
    assertThat(ran.indexOf("quiet")).isBetween(1, 100);
  }

  @Test
  void aBugInOnePieceOfWorkLeavesTheOthers() {
    List<String> ran = new ArrayList<>();
    quiet.command(() -> {
      throw new IllegalStateException("a bug, on purpose");
    });
    quiet.command(() -> ran.add("after"));
    quiet.command(writer::close);
    writer.run();

    assertThat(ran).containsExactly("after");
  }

  @Test
  void aSleepingWriterIsWoken() throws InterruptedException {
    Thread thread = new Thread(writer);
    thread.start();
    for (int i = 0; i < 1000; i++) {
      CountDownLatch ran = new CountDownLatch(1);
      quiet.command(ran::countDown);
      assertThat(ran.await(10, TimeUnit.SECONDS)).isTrue();
    }
    writer.close();
    thread.join();
  }

  private EngineRing ring() {
    return new EngineRing(new RingLimits(4096, 1 << 20, 1 << 20), bytes, writer);
  }
}
