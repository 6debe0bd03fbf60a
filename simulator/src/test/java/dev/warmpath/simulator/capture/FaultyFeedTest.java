package dev.warmpath.simulator.capture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.eventingest.capture.CaptureRecord.Events;
import dev.warmpath.simulator.capture.FaultyFeed.Faults;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class FaultyFeedTest {

  private static final int MESSAGES = 10_000;

  @Test
  void nothingHappensWithoutFaults() {
    assertThat(arrivals(Faults.NONE)).isEqualTo(numbers(0, MESSAGES));
  }

  @Test
  void losesItsShareAndTheSameOnesAgain() {
    List<Long> arrived = arrivals(Faults.dropping(0.01, 3));

    assertThat(arrived).hasSizeBetween(MESSAGES - 160, MESSAGES - 50);
    assertThat(arrivals(Faults.dropping(0.01, 3))).isEqualTo(arrived);
    assertThat(arrivals(Faults.dropping(0.01, 4))).isNotEqualTo(arrived);
  }

  @Test
  void saysWhetherTheLastOneIsLost() {
    FaultyFeed all = new FaultyFeed(Faults.dropping(1, 1), 0);
    assertThat(all.arriving(message(0))).isEmpty();
    assertThat(all.isTailLost()).isTrue();
    assertThat(all.dropped()).isEqualTo(1);

    FaultyFeed none = new FaultyFeed(Faults.NONE, 0);
    none.arriving(message(0));
    assertThat(none.isTailLost()).isFalse();
  }

  @Test
  void swapsNeighboursAndLosesNone() {
    List<Long> arrived = arrivals(new Faults(0, 0, 0.1, 0, 0, Duration.ZERO, 1));

    assertThat(arrived).hasSize(MESSAGES).isNotEqualTo(numbers(0, MESSAGES));
    for (int i = 0; i < arrived.size(); i++) {
      assertThat(Math.abs(arrived.get(i) - i)).isLessThanOrEqualTo(1);
    }
  }

  @Test
  void sendsSomeTwice() {
    List<Long> arrived = arrivals(new Faults(0, 0.1, 0, 0, 0, Duration.ZERO, 1));

    assertThat(arrived).hasSizeBetween(MESSAGES + 800, MESSAGES + 1200);
    assertThat(arrived.stream().distinct().toList()).isEqualTo(numbers(0, MESSAGES));
  }

  @Test
  void cutsPayloads() {
    FaultyFeed feed = new FaultyFeed(new Faults(0, 0, 0, 1, 0, Duration.ZERO, 1), 0);

    assertThat(feed.arriving(message(5)).get(0).payload()).hasSize(4);
  }

  @Test
  void numbersBeginAnewAtRestart() {
    FaultyFeed feed = new FaultyFeed(new Faults(0, 0, 0, 0, 3, Duration.ZERO, 1), 0);
    List<Long> numbers = new ArrayList<>();
    for (long sequence = 10; sequence < 16; sequence++) {
      numbers.add(feed.numbered(message(sequence)).sequence());
    }

    assertThat(numbers).containsExactly(10L, 11L, 12L, 0L, 1L, 2L);
  }

  @Test
  void sharesAreChecked() {
    assertThatThrownBy(() -> Faults.dropping(1.5, 0)).hasMessageContaining("drop=1.5");
    assertThatThrownBy(() -> Faults.dropping(Double.NaN, 0)).hasMessageContaining("drop=NaN");
  }

  private static List<Long> arrivals(Faults faults) {
    FaultyFeed feed = new FaultyFeed(faults, 0);
    List<Long> arrived = new ArrayList<>();
    for (long sequence = 0; sequence < MESSAGES; sequence++) {
      feed.arriving(feed.numbered(message(sequence))).forEach(m -> arrived.add(m.sequence()));
    }
    feed.remaining().forEach(m -> arrived.add(m.sequence()));
    return arrived;
  }

  private static List<Long> numbers(long from, long to) {
    return LongStream.range(from, to).boxed().toList();
  }

  private static Events message(long sequence) {
    return new Events(0, 0, new byte[0], sequence, new byte[8]);
  }
}
