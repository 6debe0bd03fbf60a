package dev.warmpath.router.logs;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.router.rig.Backend;
import dev.warmpath.router.rig.Rig;
import io.vertx.core.buffer.Buffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AccessLogTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String SECRET = "unmistakable";

  @TempDir Path folder;

  @Test
  void eachRequestIsALine() throws Exception {
    Path file = folder.resolve("logs/access.jsonl");
    try (Rig rig = new Rig(1, tree -> tree.set("access-log.file", file.toString(), "test"))) {
      Backend backend = rig.backends.get(0);
      List<Buffer> parts =
          List.of(
              Buffer.buffer("data: {\"x\":\"" + SECRET + "\"}\n\n"),
              Buffer.buffer(
                  "data: {\"usage\":{\"prompt_tokens\":31,\"completion_tokens\":3}}\n\n"));
      backend.script = (request, body) -> backend.stream(request, parts);
      byte[] body = ("{\"model\":\"m\",\"user\":\"" + SECRET + "\"}").getBytes(UTF_8);
      rig.send(
          rig.post("/v1/completions", body)
              .header("x-request-id", "id-1")
              .header("authorization", "Bearer " + SECRET)
              .build());
      rig.get("/v1/x" + "y".repeat(500) + "?a=" + SECRET);
      rig.get("/v1/completions");
      rig.chat("{\"model\":\"unknown\"}");
      Rig.until(() ->
          rig.metrics().get("warmpath_request_log_records_total{log=\"access\"}").equals(4.0));
      List<JsonNode> lines = lines(file);
      JsonNode first = lines.get(0);
      assertThat(first.path("time").asText()).startsWith("20").endsWith("Z");
      assertThat(first.path("id").asText()).isEqualTo("id-1");
      assertThat(first.path("method").asText()).isEqualTo("POST");
      assertThat(first.path("path").asText()).isEqualTo("/v1/completions");
      assertThat(first.path("model").asText()).isEqualTo("m");
      assertThat(first.path("engine").asText()).isEqualTo("r0");
      assertThat(first.path("status").asInt()).isEqualTo(200);
      assertThat(first.path("prompt_tokens").asInt()).isEqualTo(31);
      assertThat(first.path("answer_tokens").asInt()).isEqualTo(3);
      assertThat(first.path("ttft_ms").asDouble())
          .isPositive()
          .isLessThanOrEqualTo(first.path("total_ms").asDouble());
      assertThat(first.path("outcome").asText()).isEqualTo("completed");
      assertThat(lines)
          .extracting(line -> line.path("status").asInt())
          .containsExactly(200, 404, 405, 404);
      assertThat(lines)
          .extracting(line -> line.path("code").asText(""))
          .containsExactly("", "not_found", "method_not_allowed", "model_not_found");
      assertThat(lines.get(1).path("path").asText()).hasSize(200);
      assertThat(Files.readString(file)).doesNotContain(SECRET);
      assertThat(rig.metrics())
          .containsEntry("warmpath_request_log_dropped_total{cause=\"disk\",log=\"access\"}", 0.0);
    }
  }

  /** Logs, their key and captures tell of prompts. */
  @Test
  void onlyTheOwnerMayReadWhatIsWritten() throws Exception {
    try (Rig rig =
        new Rig(
            1,
            tree ->
                tree.set("access-log.file", path("access.jsonl"), "test")
                    .set("decision-log.file", path("decisions.jsonl"), "test")
                    .set("capture.dir", path("captures"), "test")
                    .set("snapshot.dir", path("data"), "test"))) {
      assertThat(rig.chat("{\"model\":\"m\"}").statusCode()).isEqualTo(200);
    }
    List<Path> files;
    try (Stream<Path> all = Files.walk(folder)) {
      files = all.filter(Files::isRegularFile).toList();
    }
    assertThat(files)
        .extracting(file -> file.getFileName().toString())
        .contains("access.jsonl", "decisions.jsonl", "decision-log.key", "lock")
        .anyMatch(name -> name.endsWith(".wpc.gz"));
    for (Path file : files) {
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
          .as(file.toString())
          .isEqualTo("rw-------");
    }
  }

  private String path(String name) {
    return folder.resolve(name).toString();
  }

  private static List<JsonNode> lines(Path file) throws Exception {
    List<JsonNode> lines = new ArrayList<>();
    for (String line : Files.readAllLines(file)) {
      lines.add(JSON.readTree(line));
    }
    return lines;
  }
}
