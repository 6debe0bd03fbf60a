package dev.warmpath.router.proxy;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.prompt.InferenceRules.Rewrite;
import dev.warmpath.router.prompt.InferenceRules.Rules;
import dev.warmpath.router.prompt.InferenceRules.Target;
import dev.warmpath.router.rig.Backend;
import dev.warmpath.router.rig.Rig;
import io.vertx.core.buffer.Buffer;
import java.io.ByteArrayOutputStream;
import java.net.http.HttpResponse;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ClientModelTest {

  private static String restored(String answer, int pieceBytes) {
    ClientModel model = new ClientModel("org/m-2", "a \"friendly\" name");
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    byte[] bytes = answer.getBytes(UTF_8);
    for (int i = 0; i < bytes.length; i += pieceBytes) {
      out.writeBytes(
          model.restore(Arrays.copyOfRange(bytes, i, Math.min(bytes.length, i + pieceBytes))));
    }
    out.writeBytes(model.rest());
    return out.toString(UTF_8);
  }

  @Test
  void theClientsModelIsPutBackHoweverTheAnswerIsCut() {
    String answer =
        "data: {\"id\":\"1\",\"model\":\"org/m-2\",\"x\":\"org/m-2\"}\n\n"
            + "data: {\"response\":{\"model\" :\n \"org/m-2\"},\"\"model\":\"org/m-2\"}\n\n";
    String wanted =
        "data: {\"id\":\"1\",\"model\":\"a \\\"friendly\\\" name\",\"x\":\"org/m-2\"}\n\n"
            + "data: {\"response\":{\"model\" :\n \"a \\\"friendly\\\" name\"},"
            + "\"\"model\":\"a \\\"friendly\\\" name\"}\n\n";
    for (int cut = 1; cut <= answer.length(); cut++) {
      assertThat(restored(answer, cut)).as("in pieces of %d", cut).isEqualTo(wanted);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"model\":\"org/m-20\",\"content\":\"model\"}",
        "{\"model\":null,\"models\":\"org/m-2\"}",
        "{\"content\":\"{\\\"model\\\":\\\"org/m-2\\\"}\"}",
        "{\"content\":\"say \\\"model\\\":\",\"a\":\"org/m-2\"}",
        "{\"model\":\"org/m-",
        "\"mod"
      })
  void nothingElseIsChanged(String answer) {
    assertThat(restored(answer, 1)).isEqualTo(answer);
    assertThat(restored(answer, answer.length())).isEqualTo(answer);
  }

  /** The models that engines have, as they say. */
  private static void serve(Rig rig, String... models) {
    rig.backends.get(0).models =
        Stream.of(models)
            .map(model -> "{\"id\":\"" + model + "\",\"root\":\"" + model + "\"}")
            .collect(Collectors.joining(",", "{\"object\":\"list\",\"data\":[", "]}"));
    Rig.until(() -> rig.router.fleet().replicas().get(0).models().containsAll(List.of(models)));
  }

  private static void rewrite(Rig rig, Target... targets) {
    rig.router
        .rules()
        .set("pool", new Rules(Map.of(), List.of(new Rewrite("chat", List.of(targets)))));
  }

  @Test
  void anEngineIsAskedForAnotherModelAndTheClientSeesItsOwn() throws Exception {
    try (Rig rig = new Rig(1)) {
      Backend engine = rig.backends.get(0);
      engine.script =
          (request, body) ->
              request
                  .response()
                  .putHeader("content-type", "application/json")
                  .end("{\"id\":\"1\",\"model\":\"org/m-2\",\"usage\":{\"prompt_tokens\":3}}");
      serve(rig, "org/m-2", "other");
      rewrite(rig, new Target("org/m-2", 1));
      String messages = "\"messages\":[{\"role\":\"user\",\"content\":\"the \\\"model\\\"\"}]";
      HttpResponse<byte[]> answer =
          rig.chat("{ \"model\" : \"chat\", " + messages + ",\"seed\":1.50}");
      assertThat(answer.statusCode()).isEqualTo(200);
      assertThat(new String(answer.body(), UTF_8))
          .isEqualTo("{\"id\":\"1\",\"model\":\"chat\",\"usage\":{\"prompt_tokens\":3}}");
      assertThat(engine.bodies.get(0).toString())
          .isEqualTo("{" + messages + ",\"seed\":1.50,\"model\":\"org/m-2\"}");
      rig.chat("{\"model\":\"other\"," + messages + "}");
      assertThat(engine.bodies.get(1).toString()).contains("\"model\":\"other\"");
      rig.untilIdle();
      assertThat(rig.metrics()).containsEntry("warmpath_request_bodies_bytes", 0.0);
    }
  }

  @Test
  void aStreamKeepsItsEventsAndShowsTheClientsModel() throws Exception {
    try (Rig rig = new Rig(1)) {
      rig.backends.get(0).script =
          (request, body) -> {
            request.response().setChunked(true).putHeader("content-type", "text/event-stream");
            request.response().write("data: {\"model\":\"org/m");
            request.response().write(Buffer.buffer("-2\",\"choices\":[]}\n\n"));
            request.response().end("data: [DONE]\n\n");
          };
      serve(rig, "org/m-2", "other");
      rewrite(rig, new Target("org/m-2", 1));
      HttpResponse<byte[]> answer = rig.chat("{\"model\":\"chat\",\"stream\":true}");
      assertThat(new String(answer.body(), UTF_8))
          .isEqualTo("data: {\"model\":\"chat\",\"choices\":[]}\n\ndata: [DONE]\n\n");
    }
  }

  @Test
  void aSessionStaysWithOneModelAndAHeaderNamesAnother() throws Exception {
    try (Rig rig = new Rig(1)) {
      Backend engine = rig.backends.get(0);
      serve(rig, "a", "b", "c", "chat");
      rewrite(rig, new Target("a", 1), new Target("b", 1));
      for (int i = 0; i < 40; i++) {
        rig.chat("{\"model\":\"chat\",\"user\":\"" + (i % 8) + "\"}");
      }
      TreeSet<String> seen = new TreeSet<>();
      engine.bodies.forEach(body -> seen.add(body.toString()));
      assertThat(seen).hasSize(8);
      assertThat(seen).anyMatch(body -> body.contains("\"model\":\"a\""));
      assertThat(seen).anyMatch(body -> body.contains("\"model\":\"b\""));
      rig.send(
          rig.post("/v1/chat/completions", "{\"model\":\"chat\"}".getBytes(UTF_8))
              .header("x-llm-d-model-name-rewrite", "c")
              .build());
      assertThat(engine.bodies.get(40).toString()).isEqualTo("{\"model\":\"c\"}");
      rig.router.rules().set("pool", Rules.NONE);
      rig.chat("{\"model\":\"chat\"}");
      assertThat(engine.bodies.get(41).toString()).isEqualTo("{\"model\":\"chat\"}");
    }
  }
}
