package dev.warmpath.router.console;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.rig.Certificates;
import dev.warmpath.router.rig.RawClient;
import dev.warmpath.router.rig.Rig;
import java.net.Socket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the console asks for, over sockets. */
class ConsoleEndpointsTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String USAGE =
      "{\"usage\":{\"prompt_tokens\":100,\"completion_tokens\":7,"
          + "\"prompt_tokens_details\":{\"cached_tokens\":64}}}";

  @TempDir private Path folder;

  @Test
  void aListenerGetsTheFleetAndTheNumbersAtOnceAndAgain() throws Exception {
    try (Rig rig = new Rig(1);
        RawClient client = new RawClient(rig.router.adminPort())) {
      rig.backends.get(0).script =
          (request, body) ->
              request.response().putHeader("content-type", "application/json").end(USAGE);
      rig.chat("{\"model\":\"m\"}");
      rig.untilIdle();
      client.write("GET /admin/console/live HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n");
      String head = client.readUntil("event: now");
      assertThat(head)
          .contains(" 200 ", "text/event-stream", "no-store")
          .doesNotContain("event: cluster")
          .containsPattern("event: fleet\ndata: \\{\"policy\":\"round-robin\"");
      JsonNode now = JSON.readTree(data(client));
      assertThat(now.path("hitRate").asDouble()).isEqualTo(0.64);
      assertThat(now.path("requests").asDouble()).isPositive();
      assertThat(now.path("picks").size()).isEqualTo(1);
      client.readUntil("event: fleet");
      client.readUntil("event: now");
      assertThat(JSON.readTree(data(client)).path("ttftP50").isNumber()).isTrue();
      assertThat(rig.metrics()).containsEntry("warmpath_console_listeners", 1.0);
    }
  }

  @Test
  void oneOfSeveralTellsOfTheOthersBeforeTheFleet() throws Exception {
    try (Socket port = Rig.reserved();
        Rig rig = new Rig(1, tree -> mesh(tree, port.getLocalPort()));
        RawClient client = new RawClient(rig.router.adminPort())) {
      client.write("GET /admin/console/live HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n");
      assertThat(client.readUntil("event: cluster")).doesNotContain("event: fleet");
      JsonNode told = JSON.readTree(data(client));
      assertThat(told.path("router").asText()).isEqualTo("here");
      assertThat(told.path("seed").path("outcome").asText()).isIn("waiting", "nobody_has_state");
      client.readUntil("event: cluster");
      JsonNode page = JSON.readTree(rig.admin("/admin/cluster").body());
      assertThat(fields(JSON.readTree(data(client)))).isEqualTo(fields(page));
      assertThat(rig.metrics()).containsEntry("warmpath_cluster_lost_total", 0.0);
    }
  }

  private static ConfigTree mesh(ConfigTree tree, int port) {
    return tree.set("cluster.mode", "mesh", "test")
        .set("cluster.insecure", true, "test")
        .set("cluster.member", "here", "test")
        .set("cluster.host", "127.0.0.1", "test")
        .set("cluster.port", port, "test")
        .set("cluster.peers", List.of("127.0.0.1:" + port), "test");
  }

  private static List<String> fields(JsonNode node) {
    List<String> names = new ArrayList<>();
    node.fieldNames().forEachRemaining(names::add);
    return names;
  }

  private static String data(RawClient client) throws Exception {
    client.readUntil("data: ");
    return client.readUntil("\n").strip();
  }

  @Test
  void theHistoryAndTheSettingsAreThereAtOnce() throws Exception {
    try (Rig rig = new Rig(1)) {
      JsonNode history = JSON.readTree(rig.admin("/admin/console/history?seconds=60").body());
      assertThat(history.path("stepSeconds").asInt()).isEqualTo(10);
      assertThat(history.path("series").path("hitRate").isArray()).isTrue();
      assertThat(rig.admin("/admin/console/history").statusCode()).isEqualTo(200);
      for (String wrong : new String[] {"0", "3601", "x", "-1", "99999999999"}) {
        assertThat(rig.admin("/admin/console/history?seconds=" + wrong).statusCode())
            .as(wrong)
            .isEqualTo(400);
      }
      JsonNode settings = JSON.readTree(rig.admin("/admin/console/settings").body());
      assertThat(settings.path("policy").asText()).isEqualTo("round-robin");
      assertThat(settings.path("stepSeconds").asInt()).isEqualTo(10);
      assertThat(settings.path("version").asText()).isNotEmpty();
    }
  }

  @Test
  void theFleetShowsWhatEnginesReport() throws Exception {
    try (Rig rig = new Rig(1, tree -> tree.set("health.metrics-interval-ms", 20, "test"))) {
      JsonNode before = engine(rig);
      assertThat(before.path("requestsWaiting").isNull()).isTrue();
      assertThat(before.path("hitRate").isNull()).isTrue();
      assertThat(before.path("circuit").asText()).isEqualTo("closed");
      rig.backends.get(0).metrics =
          "vllm:num_requests_running{engine=\"0\"} 5.0\n"
              + "vllm:num_requests_waiting{engine=\"0\"} 3.0\n"
              + "vllm:kv_cache_usage_perc{engine=\"0\"} 0.25\n";
      Rig.until(() -> engine(rig).path("requestsWaiting").asInt() == 3);
      assertThat(engine(rig).path("requestsRunning").asInt()).isEqualTo(5);
      assertThat(engine(rig).path("kvUse").asDouble()).isEqualTo(0.25);
      JsonNode replica = fleet(rig).path("replicas").get(0);
      assertThat(replica.path("source").asText()).isEqualTo("configuration");
      assertThat(replica.path("weight").asDouble()).isEqualTo(1);
    }
  }

  @Test
  void anEngineThatFailsShowsItsCircuit() throws Exception {
    try (Rig rig = new Rig(1)) {
      rig.backends.get(0).script = (request, body) -> request.connection().close();
      Rig.until(() -> {
        rig.chatLater("{\"model\":\"m\"}").join();
        return engine(rig).path("circuit").asText().equals("open");
      });
      Rig.until(() -> engine(rig).path("circuit").asText().equals("half_open"));
      rig.backends.get(0).script = (request, body) -> request.response().end("{}");
      rig.chat("{\"model\":\"m\"}");
      assertThat(engine(rig).path("circuit").asText()).isEqualTo("closed");
    }
  }

  @Test
  void theKeyIsNeededForAllOfIt() throws Exception {
    Path file = Certificates.replace(folder.resolve("key"), "a-key-of-operators\n");
    try (Rig rig = new Rig(1, tree -> tree.set("admin.key-file", file.toString(), "test"))) {
      for (String path : new String[] {"live", "history", "settings"}) {
        assertThat(rig.admin("/admin/console/" + path).statusCode()).as(path).isEqualTo(401);
      }
      try (RawClient client = new RawClient(rig.router.adminPort())) {
        client.write(
            "GET /admin/console/live HTTP/1.1\r\nhost: x\r\n"
                + "authorization: Bearer a-key-of-operators\r\n\r\n");
        client.readUntil("event: fleet");
      }
    }
  }

  private static JsonNode engine(Rig rig) {
    return fleet(rig).path("replicas").get(0).path("engines").get(0);
  }

  private static JsonNode fleet(Rig rig) {
    try {
      return JSON.readTree(new String(rig.admin("/admin/fleet").body(), UTF_8));
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}
