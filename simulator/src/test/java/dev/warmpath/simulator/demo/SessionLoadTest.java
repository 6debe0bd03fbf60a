package dev.warmpath.simulator.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.simulator.demo.SessionLoad.Session;
import java.util.List;
import org.junit.jupiter.api.Test;

class SessionLoadTest {

  private final SessionLoad load = new SessionLoad("m", 10, 1_000, 3, 5);
  private final List<Session> sessions = load.sessions();

  @Test
  void sessionsArriveAtTheRateInOrder() {
    assertThat((double) sessions.size()).isCloseTo(10_000, within(400.0));
    assertThat(sessions).extracting(Session::atSeconds).isSorted();
    assertThat(sessions.get(sessions.size() - 1).atSeconds()).isLessThan(1_000);
    assertThat(sessions.get(9).number()).isEqualTo(9);
  }

  @Test
  void sizesCoverTheirRanges() {
    assertThat(sessions).extracting(session -> session.turns().size()).contains(2, 6);
    assertThat(sessions)
        .allSatisfy(session -> assertThat(session.turns()).hasSizeBetween(2, 6))
        .flatExtracting(Session::turns)
        .allSatisfy(turn -> {
          assertThat(turn.userWords()).isBetween(20, 250);
          assertThat(turn.answerTokens()).isBetween(20, 100);
        });
    assertThat(load.systemPrompts())
        .hasSize(40)
        .doesNotHaveDuplicates()
        .allSatisfy(prompt -> assertThat(prompt.split(" ").length).isBetween(402, 1_602));
  }

  /** Zipf: the first of 40 gets 1 / sum of i^-0.8, the second 2^-0.8 of that. */
  @Test
  void popularTenantsComeMoreOften() {
    double first = share(0);
    assertThat(first).isCloseTo(0.159, within(0.02));
    assertThat(share(1) / first).isCloseTo(0.574, within(0.1));
    assertThat(share(39)).isPositive();
  }

  @Test
  void usersThinkBeforeEachTurnButTheFirst() {
    assertThat(sessions).allSatisfy(session -> assertThat(session.thinkSeconds().get(0)).isZero());
    double mean =
        sessions.stream()
            .flatMap(session -> session.thinkSeconds().stream().skip(1))
            .mapToDouble(Double::doubleValue)
            .average()
            .orElseThrow();
    assertThat(mean).isCloseTo(3, within(0.1));
  }

  @Test
  void theSameSeedGivesTheSameChats() throws Exception {
    SessionLoad again = new SessionLoad("m", 10, 1_000, 3, 5);
    assertThat(again.sessions()).isEqualTo(sessions);
    assertThat(again.systemPrompts()).isEqualTo(load.systemPrompts());
    Session session = sessions.get(3);
    String body = load.chat(session, load.systemPrompts()).nextTurn();
    assertThat(again.chat(session, again.systemPrompts()).nextTurn()).isEqualTo(body);

    JsonNode request = new ObjectMapper().readTree(body);
    assertThat(request.has("user")).isFalse();
    assertThat(request.path("max_tokens").asInt()).isEqualTo(session.turns().get(0).answerTokens());
    assertThat(request.at("/messages/0/content").asText())
        .isEqualTo(load.systemPrompts().get(session.tenant()));
    assertThat(new SessionLoad("m", 10, 1_000, 3, 6).sessions()).isNotEqualTo(sessions);
  }

  @Test
  void loadsThatAreTooLargeAreRefused() {
    assertThatThrownBy(() -> new SessionLoad("m", 10, 2_001, 3, 1))
        .hasMessage("rate=10.0 seconds=2001.0 must be positive and give at most 20000 sessions");
    assertThatThrownBy(() -> new SessionLoad("m", 0, 1, 3, 1)).hasMessageStartingWith("rate=0.0");
    assertThatThrownBy(() -> new SessionLoad("m", 1, Double.NaN, 3, 1))
        .hasMessageContaining("seconds=NaN");
  }

  private double share(int tenant) {
    long count = sessions.stream().filter(session -> session.tenant() == tenant).count();
    return (double) count / sessions.size();
  }
}
