package dev.warmpath.router.upstream;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.router.StartException;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.config.FileWatch;
import dev.warmpath.router.config.UpstreamConfig;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.rig.Backend;
import dev.warmpath.router.rig.Rig;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The keys that the router itself shows to replicas. */
class UpstreamKeysTest {

  private static final String IMAGE =
      "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}],"
          + "\"chat_template\":\"{{ messages }}\"}";

  @TempDir private Path folder;

  @Test
  void everyRequestToAReplicaShowsItsKey() throws Exception {
    String keyFile = file("key", "engine-key\n").toString();
    try (Rig rig = new Rig(1, tree -> asking(tree).set("upstream.api-key-file", keyFile, "test"))) {
      Backend backend = rig.backends.get(0);
      HttpRequest.Builder chat =
          rig.post("/v1/chat/completions", IMAGE.getBytes(UTF_8))
              .header("authorization", "Bearer client-key")
              .header("x-api-key", "client-key");
      assertThat(rig.send(chat.build()).statusCode()).isEqualTo(200);
      Rig.until(() -> backend.authorizations.keySet().containsAll(asked()));
      assertThat(backend.authorizations.values())
          .allSatisfy(seen -> assertThat(seen).containsExactly("Bearer engine-key"));
      assertThat(backend.headers)
          .allSatisfy(headers -> assertThat(headers).doesNotContainKey("x-api-key"));
    }
  }

  private static Set<String> asked() {
    return Set.of(
        "/health",
        "/v1/models",
        "/metrics",
        "/tokenize",
        "/v1/chat/completions/render",
        "/v1/chat/completions");
  }

  private static ConfigTree asking(ConfigTree tree) {
    return tree.set("parity.enabled", true, "test")
        .set("tokenizing.remote", "when-needed", "test")
        .set("tokenizing.deadline-ms", 5_000, "test")
        .put("models", Map.of("name", "m", "tokenizer", "embedded"), "test");
  }

  @Test
  void aReplicasOwnKeyGoesBeforeThatOfAllAndARenewedOneIsUsed() throws Exception {
    Path own = file("own", "first");
    String all = file("all", "all").toString();
    try (Rig rig = new Rig(2, tree -> keyed(tree, own, all))) {
      Rig.until(() -> saw(rig.backends.get(0), "Bearer first"));
      Rig.until(() -> saw(rig.backends.get(1), "Bearer all"));
      file("own", "second");
      Rig.until(() -> saw(rig.backends.get(0), "Bearer second"));
      rig.backends.get(0).authorizations.clear();
      Rig.until(() -> saw(rig.backends.get(0), "Bearer second"));
      assertThat(rig.backends.get(0).authorizations.get("/health"))
          .doesNotContain("Bearer first", "Bearer all", "");
      assertThat(rig.backends.get(1).authorizations.get("/health")).containsExactly("Bearer all");
    }
  }

  private static ConfigTree keyed(ConfigTree tree, Path own, String all) {
    ConfigTree keyed = tree.set("upstream.api-key-file", all, "test").set("files.poll-ms", 10, "t");
    try {
      String url = tree.config().replicas().get(0).url().toString();
      Map<String, Object> replica =
          Map.of("name", "r0", "url", url, "api-key-file", own.toString());
      return keyed.put("replicas", replica, "test");
    } catch (dev.warmpath.router.config.ConfigException e) {
      throw new IllegalStateException(e);
    }
  }

  private static boolean saw(Backend backend, String authorization) {
    return backend.authorizations.getOrDefault("/health", Set.of()).contains(authorization);
  }

  @Test
  void aKeyThatCouldInjectHeadersIsRefusedAtTheStart() throws Exception {
    for (String bad : new String[] {"a\r\nx-evil: 1", "a b", "schlüssel"}) {
      String keyFile = file("key", bad).toString();
      assertThatThrownBy(
              () -> new Rig(1, tree -> tree.set("upstream.api-key-file", keyFile, "test")).close())
          .isInstanceOf(StartException.class)
          .hasMessageContaining("replica r0")
          .hasMessageContaining(keyFile)
          .hasMessageContaining("printable ASCII");
    }
  }

  /** Of two new replicas one cannot come, so none does; its neighbour's key is not read on. */
  @Test
  void keysOfAnUndoneChangeAreForgotten() throws Exception {
    Path shared = file("shared", "engine-key");
    Path good = file("good", "engine-key");
    try (Rig rig =
            new Rig(
                1,
                tree -> tree.put("replicas", replica("old", "http://127.0.0.1:1", shared), "test"),
                1);
        Backend backend = new Backend(rig.vertx())) {
      rig.write(tree ->
          tree.put("replicas", replica("old", "http://127.0.0.1:1", shared), "test")
              .put("replicas", replica("x", backend.url(), good), "test")
              .put("replicas", replica("y", backend.url(), shared), "test")
              .put("replicas", replica("z", backend.url(), folder.resolve("none")), "test"));
      assertThat(rig.router.reload("test").problems()).singleElement().asString().contains("none");
      assertThat(rig.metrics()).containsKey(stale(shared)).doesNotContainKey(stale(good));
      file("none", "engine-key");
      assertThat(rig.router.reload("test").problems()).isEmpty();
      Rig.until(() -> rig.up() == 4);
      assertThat(backend.authorizations.get("/health")).containsExactly("Bearer engine-key");
      assertThat(rig.metrics()).containsKeys(stale(shared), stale(good));
    }
  }

  /** The name leads nowhere; its address was found when it was judged. */
  @Test
  void aReplicaIsConnectedToAtItsAddress() throws Exception {
    try (Rig rig = new Rig(1);
        FileWatch files = new FileWatch(60_000)) {
      UpstreamConfig none = new UpstreamConfig(null, null, null, null);
      Upstreams upstreams = new Upstreams(none, rig.vertx(), files);
      int port = URI.create(rig.backends.get(0).url()).getPort();
      URI url = URI.create("http://engine.invalid:" + port);
      Replica replica = new Replica("x", url, Set.of(), 1);
      upstreams.add(replica, none, "127.0.0.1");
      EngineClient client =
          upstreams.newClient("test", new EngineClient.Limits(() -> 5_000, 1, 1 << 16));
      byte[] body = "{\"model\":\"m\"}".getBytes(UTF_8);
      EngineClient.Answer answer =
          client
              .post(replica, "/v1/completions", body, Map.of(), 10_000)
              .toCompletionStage()
              .toCompletableFuture()
              .get();
      assertThat(answer.status()).isEqualTo(200);
      assertThat(rig.backends.get(0).headers.get(0))
          .containsEntry("host", "engine.invalid:" + port);
    }
  }

  private static Map<String, Object> replica(String name, String url, Path key) {
    return Map.of("name", name, "url", url, "api-key-file", key.toString());
  }

  private static String stale(Path key) {
    return "warmpath_watched_file_stale{file=\"upstream " + key + "\"}";
  }

  private Path file(String name, String text) throws IOException {
    Path fresh = folder.resolve(name + ".fresh");
    Files.writeString(fresh, text);
    return Files.move(
        fresh, folder.resolve(name), java.nio.file.StandardCopyOption.REPLACE_EXISTING);
  }
}
