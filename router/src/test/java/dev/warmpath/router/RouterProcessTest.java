package dev.warmpath.router;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.rig.Rig;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.Test;

class RouterProcessTest {

  @Test
  void passesRequestsInTurn() throws Exception {
    try (Rig rig = new Rig(2)) {
      rig.backends.forEach(
          b -> b.script = (request, body) -> request.response().end("{\"port\":" + b.port() + "}"));
      HttpResponse<byte[]> first = rig.chat("{\"model\":\"m\",\"messages\":[]}");
      HttpResponse<byte[]> second = rig.chat("{\"model\":\"m\",\"messages\":[]}");
      assertThat(first.statusCode()).isEqualTo(200);
      assertThat(new String(first.body(), UTF_8)).isNotEqualTo(new String(second.body(), UTF_8));
      assertThat(first.headers().firstValue("x-warmpath-replica")).isPresent();
      rig.untilIdle();
    }
  }
}
