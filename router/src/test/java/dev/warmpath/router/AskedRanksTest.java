package dev.warmpath.router;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.config.ReplicaConfig;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.rig.Backend;
import dev.warmpath.router.rig.EventFeed;
import dev.warmpath.router.rig.Rig;
import io.vertx.core.Vertx;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A router that asks an engine for its data-parallel ranks and where their events are. */
class AskedRanksTest {

  private static final String BODY = "{\"model\":\"m\"}";

  private final EventFeed first = new EventFeed(0);
  private final EventFeed second = new EventFeed(1);

  private final Vertx vertx = Vertx.vertx();
  private final Backend engine = new Backend(vertx);

  @AfterEach
  void close() {
    first.close();
    second.close();
    vertx.close().toCompletionStage().toCompletableFuture().join();
  }

  /** Of two ranks. */
  private Rig rig(String events) {
    engine.eventSources = sources(first, second);
    return new Rig(0, replica(Map.of("events", events)), 1);
  }

  private UnaryOperator<ConfigTree> replica(Map<String, Object> keys) {
    Map<String, Object> all = new HashMap<>(keys);
    all.putAll(Map.of("name", "r0", "url", engine.url(), "models", List.of("m")));
    return tree -> tree.put("replicas", all, "test");
  }

  private static String sources(EventFeed... feeds) {
    StringBuilder json = new StringBuilder("{");
    for (int rank = 0; rank < feeds.length; rank++) {
      json.append(rank == 0 ? "" : ",")
          .append("\"%d\":{\"endpoint\":\"%s\"}".formatted(rank, wildcard(feeds[rank])));
    }
    return json.append('}').toString();
  }

  private static String wildcard(EventFeed feed) {
    return feed.endpoint().replace("127.0.0.1", "*");
  }

  private static Replica replica(Rig rig) {
    return rig.router.fleet().replicas().get(0);
  }

  private static Map<String, Double> blocks(Rig rig) {
    Map<String, Double> blocks = new TreeMap<>();
    rig.metrics()
        .forEach((name, value) -> {
          if (name.startsWith("warmpath_index_blocks{") && name.contains("state=\"held\"")) {
            blocks.put(name.replaceFirst(".*engine=\"([^\"]*)\".*", "$1"), value);
          }
        });
    return blocks;
  }

  @Test
  void ranksAndEndpointsAreTheEngines() throws Exception {
    try (Rig rig = rig("auto")) {
      Rig.until(() -> rig.up() == 1 && replica(rig).ranks() == 2);
      Rig.until(() -> {
        first.stored(1);
        second.stored(2);
        Map<String, Double> blocks = blocks(rig);
        return blocks.getOrDefault("r0/0", 0.0) > 0 && blocks.getOrDefault("r0/1", 0.0) > 0;
      });
      Set<String> asked = new TreeSet<>();
      Rig.until(() -> {
        try {
          assertThat(rig.chat(BODY).statusCode()).isEqualTo(200);
        } catch (Exception e) {
          throw new AssertionError(e);
        }
        engine.headers.forEach(headers -> asked.add(headers.get("x-data-parallel-rank")));
        return asked.size() == 2;
      });
      assertThat(asked).containsExactly("0", "1");
      assertThat(rig.metrics())
          .containsEntry("warmpath_replica_event_problems{replica=\"r0\"}", 0.0);
    }
  }

  /** It is asked after the start, and what an earlier process knew of it waits for that. */
  @Test
  void whatAnEarlierRouterKnewIsFound(@TempDir Path folder) throws Exception {
    engine.eventSources = sources(first, second);
    UnaryOperator<ConfigTree> keeping =
        tree ->
            replica(Map.of("events", "auto"))
                .apply(tree)
                .set("snapshot.dir", folder.toString(), "test")
                .set("snapshot.interval-ms", 100, "test");
    try (Rig rig = new Rig(0, keeping, 1)) {
      Rig.until(() -> {
        first.stored(1);
        second.stored(1);
        return blocks(rig).values().stream().filter(held -> held > 0).count() == 2;
      });
    }
    try (Rig rig = new Rig(0, keeping, 1)) {
      Rig.until(() -> rig.metrics().containsKey(fate("no_replay")));
      Rig.until(() -> rig.metrics().get(fate("no_replay")) == 2);
      assertThat(rig.metrics().getOrDefault(fate("not_configured"), 0.0)).isZero();
    }
  }

  private static String fate(String fate) {
    return "warmpath_recovery_engines{fate=\"" + fate + "\"}";
  }

  @Test
  void anEngineThatComesBackWithOtherRanksIsFollowedAnew() throws Exception {
    try (Rig rig = rig("auto")) {
      Rig.until(() -> rig.up() == 1 && replica(rig).ranks() == 2);
      engine.health = 503;
      Rig.until(() -> rig.up() == 0);
      engine.eventSources = sources(second);
      engine.health = 200;
      Rig.until(() -> rig.up() == 1);
      assertThat(replica(rig).ranks()).as("known before it gets requests").isEqualTo(1);
      assertThat(config(rig).eventsOf(0)).isEqualTo(second.endpoint());
    }
  }

  @Test
  void weightChangesWithoutAnotherReplica() throws Exception {
    try (Rig rig = rig("auto")) {
      Rig.until(() -> rig.up() == 1 && replica(rig).ranks() == 2);
      Replica before = replica(rig);
      rig.write(replica(Map.of("events", "auto", "weight", 2.0)));
      rig.router.reload("test");
      assertThat(replica(rig)).isSameAs(before);
      assertThat(before.weight()).isEqualTo(2);
    }
  }

  @Test
  void anOlderEngineIsRoutedByLoad() throws Exception {
    try (Rig rig = rig("auto")) {
      Rig.until(() -> rig.up() == 1 && replica(rig).ranks() == 2);
      engine.eventSources = null;
      Rig.until(() -> replica(rig).ranks() == 1 && rig.up() == 1);
      assertThat(config(rig).events()).isNull();
      assertThat(rig.chat(BODY).statusCode()).isEqualTo(200);
    }
  }

  /** With one rank configured, a request may land on either, and so may the credit. */
  @Test
  void ranksThatWereNotConfiguredAreCounted() throws Exception {
    try (Rig rig = rig(first.endpoint())) {
      Rig.until(() -> rig.up() == 1 && replica(rig).ranks() == 2);
      assertThat(rig.metrics())
          .as("one rank too few, and none of its endpoints")
          .containsEntry("warmpath_replica_event_problems{replica=\"r0\"}", 2.0);
      assertThat(config(rig).eventsOf(0)).isEqualTo(first.endpoint());
    }
  }

  @Test
  void theRustFrontEndIsToldTheRankAmongAllNodes() throws Exception {
    engine.eventSources =
        "{\"4\":{\"endpoint\":\"%s\"},\"5\":{\"endpoint\":\"%s\"}}"
            .formatted(wildcard(first), wildcard(second));
    try (Rig rig = new Rig(0, replica(Map.of("events", "auto", "global-ranks", true)), 1)) {
      Rig.until(() -> rig.up() == 1 && replica(rig).firstRank() == 4);
      assertThat(rig.chat(BODY).statusCode()).isEqualTo(200);
      assertThat(engine.headers.get(0).get("x-data-parallel-rank")).isIn("4", "5");
    }
  }

  private static ReplicaConfig config(Rig rig) {
    return rig.router.membership().config(replica(rig)).orElseThrow();
  }

  /** A replica without {@code events} is routed by load on purpose. */
  @Test
  void oneWithoutEventsIsNotAsked() {
    try (Rig rig = new Rig(0, replica(Map.of()), 1)) {
      int before = engine.healthChecks.get();
      Rig.until(() -> engine.healthChecks.get() > before + 6);
      assertThat(engine.authorizations.keySet()).doesNotContain("/kv_event_sources");
      assertThat(List.of(replica(rig).ranks())).containsExactly(1);
    }
  }
}
