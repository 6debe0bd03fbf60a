package dev.warmpath.simulator.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

final class TraceBuilderTest {

  private final TraceBuilder builder = new TraceBuilder("t", 16);

  @Test
  void keepsNoMoreBlocksThanThePromptFills() {
    builder.request(0, Trace.NONE, Trace.NONE, 50, 1).blocks(4, 2).blocks(6, 9);
    assertThat(builder.build().blockNumbers(0)).containsExactly(4, 5, 6);
  }

  @Test
  void goesOnWithBlocksOfAnEarlierRequest() {
    builder.request(0, Trace.NONE, Trace.NONE, 80, 1).blocks(4, 2).blocks(9, 3);
    builder.request(1, 0, Trace.NONE, 80, 1).blocksOf(0, 3).blocks(20, 1);
    assertThat(builder.build().blockNumbers(1)).containsExactly(4, 5, 9, 20);
    assertThatThrownBy(() -> builder.blocksOf(0, 6))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("blocks=6 of request 0");
  }

  @Test
  void growsOverManyRequests() {
    for (int i = 0; i < 1000; i++) {
      builder.request(i, i - 1, i % 7, 160, i).blocks(3 * i, 2).blocks(i, 1);
    }
    Trace trace = builder.build();
    assertThat(trace.requests()).isEqualTo(1000);
    assertThat(trace.after(0)).isEqualTo(Trace.NONE);
    assertThat(trace.after(999)).isEqualTo(998);
    assertThat(trace.session(999)).isEqualTo(5);
    assertThat(trace.blockNumbers(999)).containsExactly(2997, 2998, 999);
    assertThat(trace.spanSeconds()).isZero();
  }

  @Test
  void refusesWhatCannotBePlayed() {
    builder.request(0, Trace.NONE, Trace.NONE, 16, 1);
    assertRefused("seconds=-1.0", () -> builder.request(-1, Trace.NONE, 0, 16, 1));
    assertRefused("seconds=NaN", () -> builder.request(Double.NaN, Trace.NONE, 0, 16, 1));
    assertRefused("after=1", () -> builder.request(0, 1, 0, 16, 1));
    assertRefused("promptTokens=0", () -> builder.request(0, 0, 0, 0, 1));
    assertRefused("first=-1 count=1", () -> builder.blocks(-1, 1));
    builder.request(0, 0, 0, 16, 1);
    assertRefused("after=0, as another request", () -> builder.request(0, 0, 0, 16, 1));
    assertRefused("blockSizeTokens=0", () -> new TraceBuilder("t", 0));
  }

  private static void assertRefused(String message, Runnable call) {
    assertThatThrownBy(call::run).isInstanceOf(IllegalArgumentException.class).hasMessage(message);
  }
}
