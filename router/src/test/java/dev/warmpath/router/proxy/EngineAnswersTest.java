package dev.warmpath.router.proxy;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.rig.Backend;
import dev.warmpath.router.rig.RawClient;
import dev.warmpath.router.rig.Rig;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Heads of engines' answers that are no final answer, or none that HTTP knows. */
class EngineAnswersTest {

  private static final String BODY = "{\"model\":\"m\",\"prompt\":\"p\"}";
  private static final String YES =
      "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 3\r\n\r\nyes";

  @ParameterizedTest
  @ValueSource(
      strings = {
        "HTTP/1.1 100 Continue\r\n\r\n",
        "HTTP/1.1 102 Processing\r\n\r\n",
        "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n",
        "HTTP/1.1 199 Whatever\r\nx-a: b\r\n\r\n",
        "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 P\r\n\r\n"
      })
  void interimAnswersAreFollowedByTheFinalOne(String interim) throws Exception {
    try (Rig rig = new Rig(1)) {
      Backend backend = rig.backends.get(0);
      backend.before = interim;
      backend.script = (request, body) -> request.response().end("yes");
      for (int i = 0; i < 3; i++) {
        HttpResponse<byte[]> response = rig.chat(BODY);
        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(new String(response.body(), UTF_8)).isEqualTo("yes");
      }
      try (RawClient client = new RawClient(rig.router.port())) {
        assertThat(client.postAndClose("/v1/completions", BODY).readToEnd())
            .startsWith("HTTP/1.1 200 ")
            .endsWith("yes");
      }
      rig.untilIdle();
      assertThat(rig.metrics()).doesNotContainKey("warmpath_retries_total{cause=\"no_response\"}");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
        "HTTP/1.1 0 Zero\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 99 X\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 600 X\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 999 X\r\ncontent-length: 2\r\n\r\n{}",
        "HTTP/1.1 99999 X\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 abc X\r\ncontent-length: 0\r\n\r\n"
      })
  void anAnswerWithoutAValidStatusIsNone(String answer) throws Exception {
    try (Rig rig = new Rig(2, tree -> tree.set("retry.attempts", 2, "test"))) {
      rig.backends.get(0).script = (request, body) -> Backend.raw(request, answer);
      rig.backends.get(1).script = (request, body) -> Backend.raw(request, YES);
      for (int i = 0; i < 4; i++) {
        assertThat(new String(rig.chat(BODY).body(), UTF_8)).isEqualTo("yes");
      }
      rig.backends.get(1).script = (request, body) -> Backend.raw(request, answer);
      HttpResponse<byte[]> refused = rig.chat(BODY);
      assertThat(refused.statusCode()).isEqualTo(502);
      assertThat(new String(refused.body(), UTF_8)).contains("\"type\":\"upstream_error\"");
      assertThat(rig.metrics().keySet())
          .anyMatch(name -> name.startsWith("warmpath_rejected_total{code="));
      rig.untilIdle();
    }
  }

  @Test
  void controlCharactersInTheReasonDoNotPass() throws Exception {
    try (Rig rig = new Rig(1);
        RawClient client = new RawClient(rig.router.port())) {
      Backend backend = rig.backends.get(0);
      backend.script = (request, body) -> Backend.raw(request, YES.replace("OK", "a\u001b[31mb"));
      assertThat(client.post("/v1/completions", BODY).readUntil("yes"))
          .startsWith("HTTP/1.1 200 OK\r\n");
      backend.script = (request, body) -> Backend.raw(request, YES.replace("OK", "So be it"));
      assertThat(client.post("/v1/completions", BODY).readUntil("yes"))
          .startsWith("HTTP/1.1 200 So be it\r\n");
    }
  }

  /** The engine closes later than it says, so a further request on the connection would be lost. */
  @ParameterizedTest
  @ValueSource(strings = {"close", "x-a, close", "Close , x-a", "x-a; close"})
  void aConnectionThatTheEngineEndsIsNotUsedAgain(String connection) throws Exception {
    try (Rig rig = new Rig(1)) {
      Set<String> connections = ConcurrentHashMap.newKeySet();
      rig.backends.get(0).script =
          (request, body) -> {
            connections.add(request.remoteAddress().toString());
            List.of(connection.split("; "))
                .forEach(value -> request.response().headers().add("connection", value));
            request.response().end("yes");
          };
      for (int i = 0; i < 3; i++) {
        assertThat(rig.chat(BODY).statusCode()).isEqualTo(200);
      }
      assertThat(connections).hasSize(3);
    }
  }

  @Test
  void aHealthCheckWaitsForTheFinalAnswer() throws Exception {
    try (Rig rig = new Rig(1, tree -> tree.set("health.fall", 1, "test"))) {
      Backend backend = rig.backends.get(0);
      backend.before = "HTTP/1.1 102 Processing\r\n\r\n";
      backend.health = 503;
      Rig.until(() -> rig.up() == 0);
      backend.health = 200;
      Rig.until(() -> rig.up() == 1);
    }
  }
}
