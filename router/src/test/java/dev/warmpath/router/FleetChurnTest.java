package dev.warmpath.router;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.rig.Backend;
import dev.warmpath.router.rig.EventFeed;
import dev.warmpath.router.rig.Load;
import dev.warmpath.router.rig.Rig;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Replicas that come and go while requests run: none fails, and nothing of them stays behind. */
class FleetChurnTest {

  private static final int AT_A_TIME = 10;
  private static final int ROUNDS = 20;
  private static final String BODY = "{\"model\":\"m\"}";

  /** Threads of pools that grow to their bound as they are used. */
  private static final Pattern POOLED =
      Pattern.compile("HttpClient-|CompletableFuture|vert.x-worker-|warmpath-tokenizer-");

  /** What would grow if something stayed behind. */
  private record Footprint(long threads, long files, double indexBytes, List<String> rows) {

    boolean isMoreThan(Footprint other) {
      return threads > other.threads
          || files > other.files
          || indexBytes > other.indexBytes
          || !rows.isEmpty();
    }
  }

  @Test
  void leavesNothingBehindAndFailsNoRequest() throws Exception {
    try (Rig rig = new Rig(2);
        EventFeed events = new EventFeed()) {
      List<Backend> engines = new ArrayList<>();
      for (int i = 0; i < AT_A_TIME; i++) {
        engines.add(new Backend(rig.vertx()));
      }
      churn(rig, engines, events);
      rig.untilIdle();
      Footprint before = footprint(rig);
      Load load = new Load(rig, 4, BODY);
      try (load) {
        for (int round = 0; round < ROUNDS; round++) {
          churn(rig, engines, events);
        }
        Rig.until(() -> load.answered() > 1_000);
      }
      assertThat(load.failures()).isEmpty();
      assertThat(engines).allSatisfy(engine -> assertThat(engine.bodies).isNotEmpty());
      rig.untilIdle();
      Rig.until(() -> !footprint(rig).isMoreThan(before));
    }
  }

  private static void churn(Rig rig, List<Backend> engines, EventFeed events) throws Exception {
    for (int i = 0; i < engines.size(); i++) {
      Map<String, String> replica =
          Map.of("name", "c" + i, "url", engines.get(i).url(), "events", events.endpoint());
      HttpResponse<byte[]> added = admin(rig, "POST", "/admin/replicas", json(replica));
      assertThat(new String(added.body(), UTF_8)).contains("\"added\":[\"c" + i + "\"]");
    }
    Rig.until(() -> rig.up() == 2 + engines.size());
    Rig.until(() -> {
      events.stored(8);
      return rig.metrics().entrySet().stream()
              .filter(row -> row.getKey().contains("index_blocks") && row.getKey().contains("held"))
              .filter(row -> row.getValue() > 0)
              .count()
          == engines.size();
    });
    assertThat(rig.chat(BODY).statusCode()).isEqualTo(200);
    for (int i = 0; i < engines.size(); i++) {
      assertThat(admin(rig, "DELETE", "/admin/replicas/c" + i, "").statusCode()).isEqualTo(200);
    }
    Rig.until(() -> rig.router.fleet().replicas().size() == 2);
  }

  private static Footprint footprint(Rig rig) {
    Map<String, Double> metrics = rig.metrics();
    try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
      return new Footprint(
          Thread.getAllStackTraces().keySet().stream()
              .filter(thread -> !POOLED.matcher(thread.getName()).lookingAt())
              .count(),
          files.count(),
          metrics.get("warmpath_index_bytes"),
          metrics.keySet().stream().filter(row -> row.matches(".*=\"c[0-9].*")).toList());
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String json(Map<String, String> fields) {
    return fields.entrySet().stream()
        .map(field -> "\"" + field.getKey() + "\":\"" + field.getValue() + "\"")
        .collect(Collectors.joining(",", "{", ",\"models\":[\"m\"]}"));
  }

  private static HttpResponse<byte[]> admin(Rig rig, String method, String path, String body)
      throws Exception {
    URI uri = URI.create("http://127.0.0.1:" + rig.router.adminPort() + path);
    return rig.send(
        HttpRequest.newBuilder(uri)
            .timeout(Rig.PATIENCE)
            .method(method, HttpRequest.BodyPublishers.ofString(body))
            .build());
  }
}
