package dev.warmpath.simulator.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.warmpath.simulator.trace.Trace;
import dev.warmpath.simulator.trace.TraceBuilder;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class WorkloadTest {

  /* 300 chats, one a second, of two turns: the first begins with block 0, which is common, and a block of its own. */
  private static final int CHATS = 300;
  private static final Trace TRACE = trace();

  private static Trace trace() {
    TraceBuilder builder = new TraceBuilder("t", 16);
    for (int i = 0; i < CHATS; i++) {
      builder.request(i, Trace.NONE, i, 40, 1).blocks(0, 1).blocks(1 + i, 1);
      builder.request(7, 2 * i, i, 60, 2).blocksOf(2 * i, 2).blocks(1000 + i, 1);
    }
    return builder.build();
  }

  @Test
  void onlyArrivalsAreFasterAtAHigherRate() {
    Workload slow = new Workload(TRACE, 1, 1, 5);
    Workload fast = new Workload(TRACE, 4, 1, 5);
    for (int i = 0; i < TRACE.requests(); i += 2) {
      assertThat(fast.arrivalSeconds(i)).isCloseTo(slow.arrivalSeconds(i) / 4, within(1e-9));
      assertThat(fast.thinkSeconds(fast.next(i))).isEqualTo(7);
    }
  }

  @Test
  void aCopyBeginsSomewhereAndGoesOnFromTheBeginning() {
    Workload workload = new Workload(TRACE, 1, 1, 5);
    int begin = workload.firsts()[0] / 2;
    assertThat(begin).as("all but one in 300 seeds").isPositive();
    double arrival = workload.arrivalSeconds(2 * begin);
    assertThat(arrival).isBetween(0.0, 1.0);
    for (int chat = 0; chat < CHATS; chat++) {
      int later = chat < begin ? chat - begin + (int) TRACE.spanSeconds() : chat - begin;
      assertThat(workload.arrivalSeconds(2 * chat) - arrival).isCloseTo(later, within(1e-6));
    }
  }

  @Test
  void seedsMoveTheBeginningAndEqualSeedsDoNot() {
    assertThat(new Workload(TRACE, 1, 2, 5).firsts())
        .containsExactly(new Workload(TRACE, 1, 2, 5).firsts());
    assertThat(new Workload(TRACE, 1, 2, 5).firsts())
        .isNotEqualTo(new Workload(TRACE, 1, 2, 6).firsts());
  }

  @Test
  void arrivalsAreInOrderToTheNanosecond() {
    TraceBuilder builder = new TraceBuilder("t", 16);
    for (int i = 0; i < 500; i++) {
      builder.request((499 - i) * 1e-5, Trace.NONE, i, 16, 1);
    }
    Workload workload = new Workload(builder.build(), 1, 3, 1);
    double[] arrivals =
        Arrays.stream(workload.firsts()).mapToDouble(workload::arrivalSeconds).toArray();
    assertThat(arrivals).hasSize(1500).isSorted();
  }

  @Test
  void arrivalsOfRoughTimesAreSpread() {
    Workload rough = new Workload(TRACE, 2, 1, 5);
    Workload spread = new Workload(TRACE, 2, 1, 5, 3);
    double[] later =
        Arrays.stream(rough.firsts())
            .mapToDouble(i -> spread.arrivalSeconds(i) - rough.arrivalSeconds(i))
            .toArray();
    assertThat(later).doesNotHaveDuplicates();
    assertThat(Arrays.stream(later).min().orElse(0)).isBetween(0.0, 0.05);
    assertThat(Arrays.stream(later).max().orElse(0)).isBetween(1.45, 1.5);
    assertThat(Arrays.stream(spread.firsts()).mapToDouble(spread::arrivalSeconds).toArray())
        .isSorted();
    assertThat(new Workload(TRACE, 2, 1, 6, 3).firsts()).isNotEqualTo(spread.firsts());
  }

  @Test
  void copiesShareCommonBlocksOnly() {
    Workload workload = new Workload(TRACE, 1, 3, 5);
    assertThat(workload.requests()).isEqualTo(6 * CHATS);
    int other = 2 * CHATS;
    long[] here = workload.blockNames(1);
    long[] there = workload.blockNames(other + 1);
    assertThat(here).hasSize(3).doesNotHaveDuplicates();
    assertThat(there[0]).as("what all begin with").isEqualTo(here[0]);
    assertThat(there[1]).isNotEqualTo(here[1]);
    assertThat(there[2]).isNotEqualTo(here[2]);
    assertThat(workload.blockNames(0)).as("the turn before").containsExactly(here[0], here[1]);
    assertThat(workload.session(1)).isEqualTo("0-0");
    assertThat(workload.session(other + 1)).isEqualTo("1-0");
    assertThat(workload.next(other)).isEqualTo(other + 1);
    assertThat(workload.next(other + 1)).isEqualTo(Trace.NONE);
    assertThat(IntStream.of(workload.firsts()).filter(i -> i >= other).count())
        .isEqualTo(2 * CHATS);
  }

  @Test
  void blockNumbersMayBeAnywhere() {
    TraceBuilder builder = new TraceBuilder("t", 16);
    builder.request(0, Trace.NONE, 0, 16, 1).blocks(1 << 28, 1);
    builder.request(0, Trace.NONE, 0, 16, 1).blocks(1 << 28, 1);
    Workload workload = new Workload(builder.build(), 1, 2, 1);
    assertThat(workload.blockNames(0)).containsExactly(workload.blockNames(3));
  }

  @Test
  void refusesRatesAndCopiesThatCannotBePlayed() {
    assertThatThrownBy(() -> new Workload(TRACE, 0, 1, 1)).hasMessage("rate=0.0");
    assertThatThrownBy(() -> new Workload(TRACE, 1, 0, 1)).hasMessage("copies=0");
    assertThatThrownBy(() -> new Workload(TRACE, 1, 1 << 30, 1)).hasMessage("copies=" + (1 << 30));
  }
}
