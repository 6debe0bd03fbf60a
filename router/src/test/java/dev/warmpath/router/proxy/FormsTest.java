package dev.warmpath.router.proxy;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.rig.Backend;
import dev.warmpath.router.rig.Rig;
import dev.warmpath.router.security.Secrets;
import io.vertx.core.buffer.Buffer;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Forms ({@code multipart/form-data}) are routed by their part {@code model}. */
class FormsTest {

  private static final String TYPE = "multipart/form-data; boundary=b-1";
  private static final String TRANSCRIPTIONS = "/v1/audio/transcriptions";

  /** A file whose bytes look like the form around it. */
  private static final String FILE =
      part(
          "form-data; name=\"file\"; filename=\"a \\\"b\\\".wav\"",
          "\0\r\n--b-\r\n--b-1x\r\n\u00ff");

  @TempDir private static Path folder;
  private static Rig rig;

  @BeforeAll
  static void start() throws Exception {
    Path keys = folder.resolve("keys.yaml");
    Files.writeString(keys, "keys:\n" + key("all", "") + key("only-m", "m") + key("only-n", "n"));
    rig =
        new Rig(
            3,
            tree ->
                tree.set("auth.keys-file", keys.toString(), "test")
                    .set("listen.paths", List.of("/v1/images/edits"), "test")
                    .put(
                        "models",
                        Map.of(
                            "name", "n", "tokenizer", "embedded", "aliases", List.of("whisper-1")),
                        "test"));
    rig.backends.get(1).models =
        "{\"data\":[{\"id\":\"n\"},{\"id\":\"whisper-1\"},{\"id\":\"fr\",\"parent\":\"n\"}]}";
    Rig.until(() -> rig.router.fleet().find("r1").orElseThrow().serves("fr"));
  }

  @AfterAll
  static void stop() {
    rig.close();
  }

  @BeforeEach
  void fresh() {
    rig.backends.forEach(backend -> backend.bodies.clear());
  }

  static Stream<String[]> forms() {
    String model = field("model", "n");
    return Stream.of(
        new String[] {TYPE, model + FILE + end()},
        new String[] {TYPE, FILE + model + end()},
        new String[] {TYPE, FILE + field("prompt", "model") + model + FILE + end()},
        new String[] {TYPE, "\r\n" + FILE + model + end() + "epilogue"},
        new String[] {"multipart/form-data; boundary=\"b-1\"", FILE + model + end()},
        new String[] {"Multipart/Form-Data;charset=UTF-8 ;  BOUNDARY=b-1", model + FILE + end()},
        new String[] {
          TYPE,
          FILE
              + "--b-1\r\nContent-Type: text/plain\r\ncontent-DISPOSITION:form-data;NAME=model"
              + "\r\ncontent-transfer-encoding: 8bit\r\n\r\nn\r\n"
              + end()
        },
        new String[] {TYPE, field("model", "whisper-1") + FILE + end()},
        new String[] {TYPE, field("model", "fr") + FILE + end()},
        new String[] {TYPE, field("model", "n") + field("model", "n") + FILE + end()},
        new String[] {TYPE, part("form-data; name=\"x\"; filename*=utf-8''a", "") + model + end()},
        new String[] {"multipart/form-data; boundary=" + "b".repeat(70), long70(model)});
  }

  @ParameterizedTest
  @MethodSource("forms")
  void aFormGoesWhereItsModelIsServed(String type, String body) throws Exception {
    for (int i = 0; i < 3; i++) {
      assertThat(replica(post("all", TRANSCRIPTIONS, type, body))).isEqualTo("r1");
    }
    assertThat(rig.backends.get(1).bodies)
        .hasSize(3)
        .allMatch(Buffer.buffer(body.getBytes(ISO_8859_1))::equals);
  }

  @ParameterizedTest
  @ValueSource(strings = {TRANSCRIPTIONS, "/v1/audio/translations", "/v1/images/edits"})
  void allPathsReadForms(String path) throws Exception {
    String body = FILE + field("model", "n") + end();
    for (int i = 0; i < 3; i++) {
      assertThat(replica(post("all", path, TYPE, body))).isEqualTo("r1");
    }
    HttpResponse<byte[]> unknown = post("all", path, TYPE, FILE + field("model", "x") + end());
    assertThat(new String(unknown.body(), UTF_8)).contains("model_not_found");
  }

  @Test
  void aFormWithoutModelIsAnyReplicas() throws Exception {
    for (String body :
        List.of(
            FILE + end(),
            part("form-data; name=\"model\"; filename=\"n\"", "n") + end(),
            field("Model", "n") + end(),
            "",
            "{\"model\":\"x\"}")) {
      assertThat(post("all", TRANSCRIPTIONS, TYPE, body).statusCode()).as(body).isEqualTo(200);
    }
    assertThat(rig.backends.stream().mapToInt(backend -> backend.bodies.size()).sum()).isEqualTo(5);
  }

  static Stream<String[]> doubtful() {
    String model = field("model", "m");
    return Stream.of(
        new String[] {TYPE, field("model", "n") + end()},
        new String[] {TYPE, FILE + end()},
        new String[] {TYPE, model + field("model", "n") + end()},
        new String[] {TYPE, field("model", "n") + model + end()},
        new String[] {TYPE, model + part("form-data; name*=utf-8''model", "n") + end()},
        new String[] {TYPE, model + part("form-data; name*0=mo; name*1=del", "n") + end()},
        new String[] {TYPE, model + part("form-data; name=x; name=model", "n") + end()},
        new String[] {TYPE, model + part("form-data; name=\"mo\\del\"", "n") + end()},
        new String[] {TYPE, model + part("form-data; name=model; filename*=utf-8''a", "n") + end()},
        new String[] {TYPE, model + part("form-data; name=model; filename*0=a", "n") + end()},
        new String[] {TYPE, model + part("attachment; name=\"model\"", "n") + end()},
        new String[] {
          TYPE,
          model
              + part("form-data; name=x\r\ncontent-disposition: form-data; name=model", "n")
              + end()
        },
        new String[] {TYPE, model + part("form-data;\r\n name=model", "n") + end()},
        new String[] {
          TYPE, part("form-data; name=model\r\ncontent-transfer-encoding: base64", "m") + end()
        },
        new String[] {TYPE, model},
        new String[] {TYPE, "preamble\r\n" + model + end()},
        new String[] {TYPE, field("model", "m" + " ".repeat(5_000)) + end()},
        new String[] {TYPE, (model + end()).replace("\r\n", "\n")},
        new String[] {TYPE + "; boundary=c", model + end()},
        new String[] {TYPE + "; boundary*=c", model + end()},
        new String[] {TYPE + "; charset=utf-16", model + end()},
        new String[] {"multipart/form-data; boundary=\"b-1\\\"", model + end()},
        new String[] {"multipart/form-data", model + end()},
        new String[] {"application/x-www-form-urlencoded", "model=m"},
        new String[] {TYPE, model + field("lora_path", "fr") + end()});
  }

  @ParameterizedTest
  @MethodSource("doubtful")
  void aKeyWithModelsDoesForNoFormThatAnEngineMayReadOtherwise(String type, String body)
      throws Exception {
    HttpResponse<byte[]> answer = post("only-m", TRANSCRIPTIONS, type, body);
    assertThat(answer.statusCode()).isEqualTo(403);
    assertThat(new String(answer.body(), UTF_8)).contains("\"code\":\"model_not_allowed\"");
    assertThat(rig.backends).allMatch(backend -> backend.bodies.isEmpty());
  }

  @Test
  void aKeyWithModelsDoesForItsOwnForms() throws Exception {
    String body = FILE + field("model", "m") + end();
    assertThat(post("only-m", TRANSCRIPTIONS, TYPE, body).statusCode()).isEqualTo(200);
    assertThat(post("only-n", TRANSCRIPTIONS, TYPE, body).statusCode()).isEqualTo(403);
    String alias = FILE + field("model", "whisper-1") + end();
    assertThat(replica(post("only-n", TRANSCRIPTIONS, TYPE, alias))).isEqualTo("r1");
    assertThat(post("only-n", TRANSCRIPTIONS, TYPE, FILE + field("model", "fr") + end()))
        .as("an adapter is a model of its own")
        .returns(403, HttpResponse::statusCode);
  }

  @Test
  void aLargeFileGoesUpAsItCame() throws Exception {
    String file = part("form-data; name=file; filename=a", "\r\n--b-".repeat(1 << 20));
    String body = file + field("model", "n") + end();
    assertThat(replica(post("all", TRANSCRIPTIONS, TYPE, body))).isEqualTo("r1");
    Backend backend = rig.backends.get(1);
    assertThat(backend.bodies.get(0)).isEqualTo(Buffer.buffer(body.getBytes(ISO_8859_1)));
  }

  private static String part(String disposition, String value) {
    return "--b-1\r\nContent-Disposition: " + disposition + "\r\n\r\n" + value + "\r\n";
  }

  private static String field(String name, String value) {
    return part("form-data; name=\"" + name + "\"", value);
  }

  private static String end() {
    return "--b-1--\r\n";
  }

  private static String long70(String model) {
    return (FILE.replace("--b-1x", "--b-2") + model + end()).replace("b-1", "b".repeat(70));
  }

  private static HttpResponse<byte[]> post(String key, String path, String type, String body)
      throws Exception {
    return rig.send(
        HttpRequest.newBuilder(rig.uri(path))
            .timeout(Rig.PATIENCE)
            .header("content-type", type)
            .header("authorization", "Bearer " + key)
            .POST(HttpRequest.BodyPublishers.ofByteArray(body.getBytes(ISO_8859_1)))
            .build());
  }

  private static String replica(HttpResponse<byte[]> answer) {
    assertThat(answer.statusCode()).as(new String(answer.body(), UTF_8)).isEqualTo(200);
    return answer.headers().firstValue("x-warmpath-replica").orElseThrow();
  }

  private static String key(String name, String model) {
    return "  - {name: %s, sha256: [%s], models: [%s]}\n"
        .formatted(name, Secrets.hash(name), model);
  }
}
