package dev.warmpath.router.logs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class DiskQueueTest {

  private final List<String> written = new ArrayList<>();
  private final List<String> dropped = new ArrayList<>();
  private @Nullable Error bugBeforeTurn;
  private @Nullable Error bugInWrite;
  private int begun;
  private long nanos;
  private final DiskQueue<String> queue =
      new DiskQueue<>(10, 1, String::length, new Target(), () -> nanos);

  @BeforeEach
  void open() throws Exception {
    queue.open();
  }

  @Test
  void anErrorCostsItsTurnAndAPause() throws InterruptedException {
    bugInWrite = new StackOverflowError("on purpose");
    queue.offer("a");
    assertThat(queue.writeTurn()).isTrue();
    assertThat(dropped).containsExactly("a bug");
    assertThat(queue.isFailing()).isTrue();

    bugInWrite = null;
    nanos += DiskQueue.RETRY_NANOS;
    queue.offer("b");
    assertThat(queue.writeTurn()).isTrue();
    assertThat(written).containsExactly("b");
  }

  @Test
  void anErrorBeforeATurnIsNotRepeatedInALoop() throws InterruptedException {
    bugBeforeTurn = new StackOverflowError("on purpose");
    queue.offer("a");
    for (int turn = 0; turn < 3; turn++) {
      assertThat(queue.writeTurn()).isTrue();
    }
    assertThat(begun).isEqualTo(1);
    assertThat(dropped).containsExactly("a disk");

    bugBeforeTurn = null;
    nanos += DiskQueue.RETRY_NANOS;
    queue.offer("b");
    assertThat(queue.writeTurn()).isTrue();
    assertThat(written).containsExactly("b");
  }

  @Test
  void whatGoesAheadNeedsNoRoomButItsEntryDoes() throws InterruptedException {
    assertThat(queue.offer(List.of("ahead", "ahead too"), "0123456789")).isTrue();
    assertThat(queue.offer(List.of("ahead"), "x")).isFalse();
    queue.writeTurn();
    assertThat(written).containsExactly("ahead", "ahead too", "0123456789");
    assertThat(queue.bytes()).isZero();
  }

  @Test
  void closedQueueTakesNothing() throws InterruptedException {
    queue.close();
    assertThat(queue.append("a")).isFalse();
    assertThat(queue.offer(List.of("b"), "c")).isFalse();
    assertThat(queue.bytes()).isZero();
    assertThat(queue.writeTurn()).isFalse();
  }

  private final class Target implements DiskQueue.Target<String> {

    @Override
    public void open() {}

    @Override
    public void write(List<String> entries) {
      if (bugInWrite != null) {
        throw bugInWrite;
      }
      written.addAll(entries);
    }

    @Override
    public void close() {}

    @Override
    public void dropped(List<String> entries, boolean isBug) {
      entries.forEach(entry -> dropped.add(entry + (isBug ? " bug" : " disk")));
    }

    @Override
    public void beforeTurn() {
      begun++;
      if (bugBeforeTurn != null) {
        throw bugBeforeTurn;
      }
    }
  }
}
