package dev.warmpath.eventingest.stream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.stream.Lifetime.Continuity;
import dev.warmpath.eventingest.stream.Lifetime.Continuity.Event;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ContinuityTest {

  @ParameterizedTest
  @CsvSource(
      useHeadersInDisplayName = true,
      delimiter = '|',
      textBlock =
          """
          state                  | CONNECTION_LOST        | REJOINED               | START_MATCHES          | NO_REPLAY      | DECIDED
          CONTINUOUS             | BROKEN                 | CONTINUOUS             | CONTINUOUS             | CONTINUOUS     | CONTINUOUS
          BROKEN                 | BROKEN                 | CONTINUOUS             | BROKEN                 | BROKEN         | BROKEN
          RESTORED               | RESTORED               | RESTORED               | RESTORED_START_MATCHES | AWAITING_START | BROKEN
          RESTORED_START_MATCHES | RESTORED_START_MATCHES | RESTORED_START_MATCHES | RESTORED_START_MATCHES | CONTINUOUS     | BROKEN
          AWAITING_START         | AWAITING_START_BROKEN  | AWAITING_START         | CONTINUOUS             | AWAITING_START | CONTINUOUS
          AWAITING_START_BROKEN  | AWAITING_START_BROKEN  | AWAITING_START         | BROKEN                 | AWAITING_START | BROKEN
          """)
  void changes(
      Continuity state,
      Continuity connectionLost,
      Continuity rejoined,
      Continuity startMatches,
      Continuity noReplay,
      Continuity decided) {
    assertThat(state.after(Event.CONNECTION_LOST)).isEqualTo(connectionLost);
    assertThat(state.after(Event.REJOINED)).isEqualTo(rejoined);
    assertThat(state.after(Event.START_MATCHES)).isEqualTo(startMatches);
    assertThat(state.after(Event.NO_REPLAY)).isEqualTo(noReplay);
    assertThat(state.after(Event.DECIDED)).isEqualTo(decided);
  }

  @Test
  void whatIsDecidedStaysDecided() {
    for (Continuity state : Continuity.values()) {
      for (Event event : Event.values()) {
        assertThat(state.after(event).isDecided())
            .as("%s after %s", state, event)
            .matches(decided -> decided || !state.isDecided());
      }
      assertThat(state.after(Event.DECIDED).isDecided()).isTrue();
    }
  }
}
