package dev.warmpath.router;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.rig.Backend;
import dev.warmpath.router.rig.Load;
import dev.warmpath.router.rig.Rig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A router whose replicas a file lists, which changes under load. */
class DiscoveryTest {

  private static final String BODY = "{\"model\":\"m\"}";

  @TempDir Path folder;
  private final List<Backend> engines = new ArrayList<>();

  private Rig rig() {
    Map<String, Object> source =
        Map.of("kind", "file", "file", file().toString(), "interval-ms", 100L);
    return new Rig(0, tree -> tree.put("discovery", source, "test"));
  }

  private Path file() {
    return folder.resolve("replicas.yaml");
  }

  private void list(int... numbers) throws IOException {
    String yaml =
        IntStream.of(numbers)
            .mapToObj(
                i -> "- {name: e%d, url: '%s', models: [m]}\n".formatted(i, engines.get(i).url()))
            .collect(Collectors.joining());
    write(yaml.isEmpty() ? "[]" : yaml);
  }

  private void write(String text) throws IOException {
    Path next = Files.writeString(folder.resolve("next"), text);
    Files.move(next, file(), StandardCopyOption.ATOMIC_MOVE);
  }

  private static void untilUp(Rig rig, String... names) {
    Rig.until(() ->
        rig.router.fleet().replicas().stream().map(Replica::name).toList().equals(List.of(names))
            && rig.up() == names.length);
  }

  @Test
  void replicasComeAndGoWithoutAFailedRequest() throws Exception {
    try (Rig rig = rig()) {
      Stream.generate(() -> new Backend(rig.vertx())).limit(3).forEach(engines::add);
      assertThat(rig.chat(BODY).statusCode()).isEqualTo(503);
      list(0);
      untilUp(rig, "e0");
      Load load = new Load(rig, 3, BODY);
      try (load) {
        for (int round = 0; round < 5; round++) {
          list(0, 1);
          untilUp(rig, "e0", "e1");
          list(1, 2);
          untilUp(rig, "e1", "e2");
          list(2, 0);
          untilUp(rig, "e2", "e0");
          list(0);
          untilUp(rig, "e0");
        }
        long before = load.answered();
        Rig.until(() -> load.answered() > before + 10);
      }
      assertThat(load.failures()).isEmpty();
      assertThat(engines).allSatisfy(engine -> assertThat(engine.bodies).isNotEmpty());
    }
  }

  @Test
  void aBrokenFileTakesNoReplicaAwayAndShows() throws Exception {
    try (Rig rig = rig()) {
      engines.add(new Backend(rig.vertx()));
      list(0);
      untilUp(rig, "e0");
      write("- {name: e0}\n");
      String failures = "warmpath_discovery_failures_total{source=\"file\"}";
      double before = rig.metrics().get(failures);
      Rig.until(() -> rig.metrics().get(failures) >= before + 2);
      assertThat(new String(rig.admin("/admin/replicas").body(), UTF_8))
          .contains(file() + ":1: 'replicas[].url' is missing");
      assertThat(rig.metrics())
          .containsEntry("warmpath_discovery_replicas{source=\"file\"}", 1.0)
          .containsEntry("warmpath_discovery_refused{source=\"file\"}", 0.0)
          .containsKey("warmpath_discovery_age_seconds{source=\"file\"}");
      assertThat(rig.chat(BODY).statusCode()).isEqualTo(200);
      list();
      Rig.until(() -> rig.router.fleet().replicas().isEmpty());
    }
  }
}
