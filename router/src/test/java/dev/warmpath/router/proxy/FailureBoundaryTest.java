package dev.warmpath.router.proxy;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.rig.Rig;
import dev.warmpath.router.routing.Candidates;
import dev.warmpath.router.routing.Policy;
import dev.warmpath.router.routing.RoutingRequest;
import dev.warmpath.router.routing.Score;
import java.net.http.HttpResponse;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/**
 * A bug of ours in the midst of a request: the client gets an answer, and nothing is left behind.
 */
class FailureBoundaryTest {

  private static final String BODY = "{\"model\":\"m\",\"prompt\":\"p\"}";

  @Test
  void aBugWhenAReplicaIsChosenIsAnAnswer() throws Exception {
    try (Rig rig = new Rig(1)) {
      rig.router.dispatcher().policy(failingFrom(1, rig.router.dispatcher().policy()));
      failed(rig, rig.chat(BODY));
      assertThat(rig.backends.get(0).bodies).isEmpty();
    }
  }

  @Test
  void aBugWhenItIsTriedAgainIsAnAnswer() throws Exception {
    try (Rig rig = new Rig(2)) {
      rig.backends.forEach(b -> b.script = (request, body) -> request.connection().close());
      rig.router.dispatcher().policy(failingFrom(2, rig.router.dispatcher().policy()));
      failed(rig, rig.chat(BODY));
    }
  }

  private static void failed(Rig rig, HttpResponse<byte[]> response) {
    assertThat(response.statusCode()).isEqualTo(500);
    assertThat(new String(response.body(), UTF_8)).contains("\"code\":\"internal_error\"");
    rig.untilIdle();
  }

  private static Policy failingFrom(int call, Policy policy) {
    AtomicInteger calls = new AtomicInteger();
    return new Policy() {
      @Override
      public String name() {
        return policy.name();
      }

      @Override
      public int choose(RoutingRequest request, Candidates candidates) {
        if (calls.incrementAndGet() >= call) {
          throw new StackOverflowError("a bug");
        }
        return policy.choose(request, candidates);
      }

      @Override
      public String reason(RoutingRequest request, Candidates candidates, int winner) {
        return policy.reason(request, candidates, winner);
      }

      @Override
      public Score score(RoutingRequest request, Candidates candidates, int row) {
        return policy.score(request, candidates, row);
      }
    };
  }
}
