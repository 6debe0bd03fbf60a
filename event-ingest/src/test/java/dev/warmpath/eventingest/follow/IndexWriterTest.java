package dev.warmpath.eventingest.follow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.follow.IngestOptions.RingLimits;
import dev.warmpath.eventingest.wire.StreamMessage;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
final class IndexWriterTest {

  private static final RingLimits LIMITS = new RingLimits(4096, 1 << 20, 1 << 20);

  private final IndexWriter writer = new IndexWriter(() -> {});
  private final EngineRing.RingBytes bytes = new EngineRing.RingBytes(1 << 20);
  private final Map<EngineRing, List<Throwable>> failures = new HashMap<>();
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
  void aBugInOnePieceOfWorkIsItsRingsAndLeavesTheOthers() {
    List<String> ran = new ArrayList<>();
    RuntimeException bug = new IllegalStateException("a bug, on purpose");
    Error error = new StackOverflowError("on purpose");
    quiet.command(() -> {
      throw bug;
    });
    quiet.command(() -> ran.add("after"));
    quiet.command(() -> {
      throw error;
    });
    quiet.command(() -> ran.add("after that"));
    flooded.command(() -> ran.add("another ring"));
    flooded.command(writer::close);
    writer.run();

    assertThat(ran).containsExactly("after", "after that", "another ring");
    assertThat(failures.get(quiet)).containsExactly(bug, error);
    assertThat(failures.get(flooded)).isEmpty();
  }

  @Test
  void aFailureThatItsOwnerCannotCopeWithEndsTheWriter() {
    EngineRing beyondHelp =
        new EngineRing(
            LIMITS,
            bytes,
            writer,
            new EngineRing.Owner() {
              @Override
              public void live(StreamMessage batch) {}

              @Override
              public void failed(Throwable thrown) {
                throw new IllegalStateException("a bug, on purpose", thrown);
              }
            });
    List<String> ran = new ArrayList<>();
    beyondHelp.command(() -> {
      throw new AssertionError("a bug, on purpose");
    });
    beyondHelp.command(() -> ran.add("after"));
    assertThat(writer.hasEnded()).isFalse();
    writer.run();

    assertThat(writer.hasEnded()).isTrue();
    assertThat(ran).isEmpty();
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
    RecordingOwner owner = new RecordingOwner();
    EngineRing ring = new EngineRing(LIMITS, bytes, writer, owner);
    failures.put(ring, owner.thrown);
    return ring;
  }
}
