package dev.warmpath.lab.gateway;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.netty.buffer.ByteBuf;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class GatewayRequestsTest {

  @Test
  void threeQuartersAreOneOf64SystemPrompts() throws Exception {
    Set<String> systems = new HashSet<>();
    Set<String> users = new HashSet<>();
    for (ByteBuf request :
        new GatewayCell.GatewayRequests("m", 2_048, false, 1).withSystemPrompts(1_000)) {
      String body = body(request);
      assertThat(body.length()).isBetween(2_000, 2_096);
      JsonNode json = new ObjectMapper().readTree(body);
      assertThat(json.path("model").asText()).isEqualTo("m");
      assertThat(json.path("stream").asBoolean()).isFalse();
      JsonNode messages = json.path("messages");
      assertThat(messages).hasSize(2);
      systems.add(messages.path(0).path("content").asText());
      users.add(messages.path(1).path("content").asText());
    }
    assertThat(systems).hasSize(64).allMatch(text -> text.length() == 1_536);
    assertThat(users).hasSize(1_000);
  }

  @Test
  void chatsGrowByAnAnswerAndAQuestion() throws Exception {
    List<ByteBuf> requests =
        new GatewayCell.GatewayRequests("m", 400_000, true, 1).ofGrowingChats(20);
    assertThat(requests).hasSize(20);
    for (int i = 8; i < 20; i++) {
      String before = body(requests.get(i - 8));
      String now = body(requests.get(i));
      assertThat(now).startsWith(before.substring(0, before.length() - "]}".length()));
      assertThat(now.length() - before.length()).isBetween(2_000, 2_100);
      assertThat(now).doesNotStartWith(body(requests.get(i - 1)).substring(0, 500));
    }
    JsonNode last = new ObjectMapper().readTree(body(requests.get(19)));
    assertThat(last.path("stream").asBoolean()).isTrue();
    assertThat(last.path("messages").path(0).path("role").asText()).isEqualTo("system");
    assertThat(last.path("messages").path(last.path("messages").size() - 1).path("role").asText())
        .isEqualTo("user");
  }

  @Test
  void sameSeedGivesTheSameRequests() {
    GatewayCell.GatewayRequests requests = new GatewayCell.GatewayRequests("m", 2_048, true, 7);
    assertThat(requests.withSystemPrompts(3)).isEqualTo(requests.withSystemPrompts(3));
    assertThat(requests.withSystemPrompts(3))
        .isNotEqualTo(new GatewayCell.GatewayRequests("m", 2_048, true, 8).withSystemPrompts(3));
  }

  /** The body of a request whose head says how long it is. */
  private static String body(ByteBuf request) {
    String text = request.toString(UTF_8);
    int end = text.indexOf("\r\n\r\n");
    assertThat(text).startsWith("POST /v1/chat/completions HTTP/1.1\r\n");
    String body = text.substring(end + 4);
    assertThat(text.substring(0, end)).contains("content-length: " + body.length());
    return body;
  }
}
