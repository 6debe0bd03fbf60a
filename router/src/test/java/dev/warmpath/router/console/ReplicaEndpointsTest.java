package dev.warmpath.router.console;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.router.config.ConfigKey;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.rig.Backend;
import dev.warmpath.router.rig.Rig;
import io.vertx.core.http.HttpServerResponse;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ReplicaEndpointsTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  @Test
  void addsAndRemovesReplicas() throws Exception {
    try (Rig rig = new Rig(1);
        Backend other = new Backend(rig.vertx())) {
      String replica = "{\"name\":\"x\",\"url\":\"" + other.url() + "\",\"weight\":2}";
      HttpResponse<byte[]> added = ask(rig, "POST", "", replica.replace("}", ".5}"));
      assertThat(added.statusCode()).isEqualTo(200);
      assertThat(JSON.readTree(added.body()).path("added").get(0).asText()).isEqualTo("x");
      Rig.until(() -> rig.up() == 2);
      Rig.until(() -> rig.router.fleet().find("x").orElseThrow().models().contains("m"));
      for (int i = 0; i < 4; i++) {
        assertThat(rig.chat("{\"model\":\"m\"}").statusCode()).isEqualTo(200);
      }
      assertThat(other.bodies).as("it gets its turns").hasSize(2);

      JsonNode x = JSON.readTree(ask(rig, "GET", "", "").body()).path("replicas").get(1);
      assertThat(x.path("name").asText()).isEqualTo("x");
      assertThat(x.path("source").asText()).isEqualTo("admin");
      assertThat(x.path("health").asText()).isEqualTo("up");
      assertThat(x.path("weight").asDouble()).isEqualTo(2.5);
      assertThat(x.path("models").get(0).asText()).isEqualTo("m");

      HttpResponse<byte[]> removed = ask(rig, "DELETE", "/x", "");
      assertThat(JSON.readTree(removed.body()).path("removed").get(0).asText()).isEqualTo("x");
      Rig.until(() -> isUnknown(rig));
      assertThat(rig.router.fleet().replicas()).hasSize(1);
      assertThat(rig.chat("{\"model\":\"m\"}").statusCode()).isEqualTo(200);
    }
  }

  @Test
  void aUrlHasOneReplica() throws Exception {
    try (Rig rig = new Rig(1)) {
      String replica = "{\"name\":\"twin\",\"url\":\"" + rig.backends.get(0).url() + "\"}";
      HttpResponse<byte[]> added = ask(rig, "POST", "", replica);
      assertThat(added.statusCode()).isEqualTo(409);
      assertThat(new String(added.body(), UTF_8)).contains("'r0' has the URL ");
      assertThat(rig.router.fleet().replicas()).hasSize(1);
    }
  }

  @Test
  void theFleetShowsThatAReplicaLeaves() throws Exception {
    try (Rig rig = new Rig(1);
        Backend other = new Backend(rig.vertx())) {
      Queue<HttpServerResponse> held = new ConcurrentLinkedQueue<>();
      other.script = (request, body) -> held.add(request.response());
      ask(rig, "POST", "", "{\"name\":\"x\",\"url\":\"" + other.url() + "\"}");
      Rig.until(() -> rig.up() == 2);
      rig.chatLater("{\"model\":\"m\"}");
      rig.chatLater("{\"model\":\"m\"}");
      Rig.until(() -> !held.isEmpty());
      assertThat(inFleet(rig, 1).path("leaving").asBoolean()).isFalse();

      ask(rig, "DELETE", "/x", "");
      assertThat(inFleet(rig, 1).path("leaving").asBoolean()).isTrue();
      assertThat(inFleet(rig, 0).path("leaving").asBoolean()).isFalse();
      held.remove().end("{}");
      Rig.until(() -> isUnknown(rig));
    }
  }

  private static JsonNode inFleet(Rig rig, int number) throws Exception {
    return JSON.readTree(rig.admin("/admin/fleet").body()).path("replicas").path(number);
  }

  private static boolean isUnknown(Rig rig) {
    try {
      return ask(rig, "DELETE", "/x", "").statusCode() == 404;
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void drainsAndResumes() throws Exception {
    try (Rig rig = new Rig(2)) {
      JsonNode drained = JSON.readTree(ask(rig, "POST", "/r0/drain", "").body());
      assertThat(drained.path("draining").asBoolean()).isTrue();
      for (int i = 0; i < 4; i++) {
        assertThat(rig.chat("{\"model\":\"m\"}").headers().firstValue("x-warmpath-replica"))
            .contains("r1");
      }
      JsonNode resumed = JSON.readTree(ask(rig, "POST", "/r0/resume", "").body());
      assertThat(resumed.path("draining").asBoolean()).isFalse();
      assertThat(ask(rig, "POST", "/nobody/drain", "").statusCode()).isEqualTo(404);
      assertThat(ask(rig, "POST", "/r0/other", "").statusCode()).isEqualTo(404);
      assertThat(ask(rig, "GET", "/r0/drain", "").statusCode()).isEqualTo(404);
    }
  }

  static List<String> keysOfFiles() {
    return ConfigKey.all(RouterConfig.class).stream()
        .filter(key -> key.section().equals("replicas[]"))
        .map(ConfigKey::name)
        .filter(name -> name.endsWith("-file") || name.startsWith("tls-"))
        .toList();
  }

  @ParameterizedTest
  @MethodSource("keysOfFiles")
  void aRequestNamesNoFiles(String key, @TempDir Path folder) throws Exception {
    Path secret = Files.writeString(folder.resolve("secret"), "unmistakable");
    String body = "{name: x, url: 'https://127.0.0.1:1', %s: '%s'}".formatted(key, secret);
    try (Rig rig = new Rig(1)) {
      refused(rig, 400, body, "only the configuration may name files: 'replicas[]." + key + "'");
      assertThat(new String(ask(rig, "POST", "", body).body(), UTF_8)).doesNotContain("unmist");
      assertThat(rig.router.fleet().replicas()).hasSize(1);
    }
  }

  @Test
  void saysWhatIsWrongAndWhere() throws Exception {
    try (Rig rig = new Rig(1)) {
      refused(rig, 400, "{\"name\":\"x\"}", "'replicas[].url' is missing");
      refused(
          rig,
          400,
          "{\"name\":\"x\",\n\"urll\":\"http://h:1\",\"url\":\"http://h:1\"}",
          "body:2: unknown key 'replicas[].urll'; did you mean 'replicas[].url'?");
      refused(rig, 400, "{\"name\":\"../x\",\"url\":\"http://h:1\"}", "'name' must be letters");
      refused(rig, 400, "{\"name\":\"x\",\"url\":\"file:///etc/passwd\"}", "'url' must be");
      refused(rig, 400, "[1]", "keys and values expected");
      refused(rig, 400, "{", "body:");
      refused(rig, 400, "[".repeat(60_000), "nested too deeply");
      refused(
          rig,
          409,
          "{\"name\":\"r0\",\"url\":\"http://h:1\"}",
          "'r0' is a replica of configuration already");
      assertThat(ask(rig, "POST", "", "x".repeat(65_537)).statusCode()).isEqualTo(413);
      assertThat(
              new String(
                  ask(rig, "DELETE", "/r0", "").body(), java.nio.charset.StandardCharsets.UTF_8))
          .contains("'r0' is named by configuration: remove it there, or drain it here");
      assertThat(ask(rig, "PUT", "", "{}").statusCode()).isEqualTo(404);
      assertThat(rig.router.fleet().replicas()).hasSize(1);
    }
  }

  @Test
  void aPageOfAnotherSiteMayRemoveNothing() throws Exception {
    try (Rig rig = new Rig(1)) {
      HttpRequest request =
          HttpRequest.newBuilder(uri(rig, "/r0"))
              .header("sec-fetch-site", "cross-site")
              .DELETE()
              .build();
      assertThat(rig.send(request).statusCode()).isEqualTo(403);
    }
  }

  private static void refused(Rig rig, int status, String body, String why) throws Exception {
    HttpResponse<byte[]> answer = ask(rig, "POST", "", body);
    assertThat(JSON.readTree(answer.body()).path("error").path("message").asText()).contains(why);
    assertThat(answer.statusCode()).isEqualTo(status);
  }

  private static HttpResponse<byte[]> ask(Rig rig, String method, String path, String body)
      throws Exception {
    return rig.send(
        HttpRequest.newBuilder(uri(rig, path))
            .timeout(Rig.PATIENCE)
            .method(method, BodyPublishers.ofString(body))
            .build());
  }

  private static URI uri(Rig rig, String path) {
    return URI.create("http://127.0.0.1:" + rig.router.adminPort() + "/admin/replicas" + path);
  }
}
