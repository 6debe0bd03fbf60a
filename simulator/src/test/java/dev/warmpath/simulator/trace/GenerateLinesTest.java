package dev.warmpath.simulator.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.warmpath.simulator.trace.TraceFormat.GenerateLines;
import dev.warmpath.simulator.trace.TraceFormat.GrowingSessions;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class GenerateLinesTest {

  private static final String LINE =
      """
      {"seed": 7, "seconds": 1000, "sessions": 2000, "tenants": 4, "zipf": 1, "system": 160,
       "turns": 3, "in": 100, "out": 50, "think": 10}
      """;

  @Test
  void equalLinesMakeEqualChatsAndOtherSeedsMakeOthers() {
    assertThat(print(trace(LINE))).isEqualTo(print(trace(LINE)));
    assertThat(print(trace(LINE.replace(": 7", ": 8")))).isNotEqualTo(print(trace(LINE)));
  }

  @Test
  void chatsAreAsManyAndAsLongAsAskedFor() {
    Trace trace = trace(LINE);
    int[] first = requests(trace, true);
    int[] later = requests(trace, false);
    assertThat(first).hasSize(2000);
    assertThat((double) trace.requests() / first.length).isCloseTo(3, within(0.15));
    assertThat(trace.spanSeconds()).isCloseTo(1000, within(70.0));
    assertThat(Arrays.stream(later).mapToDouble(trace::seconds).average().orElse(0))
        .isCloseTo(10, within(0.6));
    double[] answers =
        IntStream.range(0, trace.requests()).mapToDouble(trace::answerTokens).sorted().toArray();
    assertThat(answers[answers.length / 2]).isCloseTo(50, within(3.0));
    assertThat(answers[answers.length * 99 / 100])
        .as("the tail is long")
        .isCloseTo(500, within(120.0));
  }

  @Test
  void tenantsShareASystemPromptAndTheFirstHasMostSessions() {
    Trace trace = trace(LINE);
    Map<Integer, Integer> sessions = new HashMap<>();
    for (int request : requests(trace, true)) {
      sessions.merge(trace.blockNumbers(request)[0], 1, Integer::sum);
    }
    assertThat(sessions.values().stream().sorted().toList())
        .as("1/4, 1/3, 1/2 and 1 of 25/12")
        .satisfiesExactly(
            few -> assertThat(few).isCloseTo(240, within(50)),
            more -> assertThat(more).isCloseTo(320, within(50)),
            many -> assertThat(many).isCloseTo(480, within(60)),
            most -> assertThat(most).isCloseTo(960, within(80)));
  }

  @Test
  void aBurstIsOfOneTenantAtOneTime() {
    Trace trace = trace(LINE.replace("\"turns\": 3", "\"turns\": 1, \"burst\": 50"));
    assertThat(trace.requests()).isEqualTo(2000);
    Map<Double, Integer> bursts = new HashMap<>();
    for (int request : requests(trace, true)) {
      int tenant = trace.blockNumbers(request)[0];
      assertThat(bursts.putIfAbsent(trace.seconds(request), tenant)).isIn(null, tenant);
    }
    assertThat(bursts).hasSize(40);
    assertThat(trace.spanSeconds()).isBetween(500.0, 1500.0);
  }

  @Test
  void everythingHasADefaultAndBounds() {
    assertThat(requests(trace("{}"), true)).hasSize(500);
    assertThatThrownBy(() -> trace("{\"tenants\": 0}"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("'tenants' is 0, must be a whole number from 1 to 1000000");
  }

  private static int[] requests(Trace trace, boolean first) {
    return IntStream.range(0, trace.requests())
        .filter(i -> first == (trace.after(i) == Trace.NONE))
        .toArray();
  }

  private static Trace trace(String line) {
    TraceBuilder builder = new TraceBuilder("t", GrowingSessions.BLOCK_TOKENS);
    new GenerateLines().line(line, builder);
    return builder.build();
  }

  private static String print(Trace trace) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < trace.requests(); i++) {
      text.append(trace.seconds(i)).append(' ').append(trace.after(i)).append(' ');
      text.append(trace.answerTokens(i)).append(Arrays.toString(trace.blockNumbers(i)));
    }
    return text.toString();
  }

  @Test
  void lengthsMayBeAllTheSame() {
    String same = LINE.replace("\"turns\": 3", "\"turns\": 1, \"inSpread\": 0, \"outSpread\": 0");
    Trace trace = trace(same.replaceAll("\"system\": [0-9]+", "\"system\": 0"));
    for (int request = 1; request < trace.requests(); request++) {
      assertThat(trace.promptTokens(request)).isEqualTo(trace.promptTokens(0));
      assertThat(trace.answerTokens(request)).isEqualTo(trace.answerTokens(0));
    }
    assertThat(trace(LINE).promptTokens(0)).isNotEqualTo(trace(LINE).promptTokens(3));
  }
}
