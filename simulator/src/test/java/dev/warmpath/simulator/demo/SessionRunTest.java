package dev.warmpath.simulator.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.simulator.demo.SessionRun.SessionReport;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class SessionRunTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  private final SessionLoad load = new SessionLoad("m", 200, 0.2, 0, 3);
  private final ConcurrentLinkedQueue<JsonNode> requests = new ConcurrentLinkedQueue<>();

  @Test
  void everyTurnOfEverySessionIsSentWithTheAnswersBeforeIt() throws Exception {
    SessionReport report = run(ok());

    int turns = load.sessions().stream().mapToInt(session -> session.turns().size()).sum();
    assertThat(report.load().requests()).isEqualTo(turns);
    assertThat(report.load().errors()).isZero();
    assertThat(report.load().hitRate()).isEqualTo(0.6);
    assertThat(report.lateMillis().p50()).isNotNegative();
    Map<String, Integer> messages = new ConcurrentHashMap<>();
    for (JsonNode request : requests) {
      String first = request.at("/messages/1/content").asText();
      int before = messages.getOrDefault(first, 0);
      assertThat(request.path("messages")).hasSize(before == 0 ? 2 : before + 2);
      messages.put(first, request.path("messages").size());
    }
    assertThat(messages).hasSize(load.sessions().size());
  }

  @Test
  void sessionEndsWithItsFirstError() throws Exception {
    SessionReport report = run(ChatReply.failed("status 503"));

    int sessions = load.sessions().size();
    assertThat(report.load().requests()).isEqualTo(sessions);
    assertThat(report.load().failures()).isEqualTo(Map.of("status 503", sessions));
  }

  @Test
  void mistakeOfOurOwnEndsTheRun() {
    ChatSender broken =
        body -> {
          throw new IllegalStateException("size=-1");
        };
    assertThatThrownBy(() -> new SessionRun(load, broken, System::nanoTime).run())
        .isInstanceOf(IllegalStateException.class)
        .hasRootCauseMessage("size=-1");
  }

  private SessionReport run(ChatReply reply) throws InterruptedException {
    ChatSender sender =
        body -> {
          requests.add(read(body));
          return reply;
        };
    return new SessionRun(load, sender, System::nanoTime).run();
  }

  private static ChatReply ok() {
    return new ChatReply(null, 100, 60, -1, 2, 1, "Yes.", null);
  }

  private static JsonNode read(String body) {
    try {
      return JSON.readTree(body);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
