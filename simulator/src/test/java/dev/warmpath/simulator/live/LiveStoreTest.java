package dev.warmpath.simulator.live;

import static dev.warmpath.simulator.live.LiveFleet.BLOCKS;
import static dev.warmpath.simulator.live.LiveFleet.CACHED;
import static dev.warmpath.simulator.live.LiveFleet.until;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.router.Environment;
import dev.warmpath.router.RouterProcess;
import dev.warmpath.router.config.ConfigChanges.ConfigChange;
import dev.warmpath.router.config.ConfigTree;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A router before two engines that share a store, over real sockets. */
@Timeout(120)
final class LiveStoreTest {

  private static final int PROMPTS = 9; // odd: each round takes the other engine

  private LiveStore store;
  private LiveFleet fleet;
  private RouterProcess router;
  private ConfigTree without;
  private volatile ConfigTree written;

  @AfterEach
  void stop() throws Exception {
    fleet.close();
    store.close();
  }

  private void start(int storeBlocks, boolean publishes) throws Exception {
    start(new LiveStore(storeBlocks), publishes);
  }

  private void start(LiveStore shared, boolean publishes) throws Exception {
    store = shared;
    fleet = new LiveFleet();
    ConfigTree tree =
        LiveFleet.config()
            .set("policy.name", "round-robin", "test")
            .set("policy.split", "never", "test");
    for (int i = 0; i < 2; i++) {
      fleet.engine(LiveFleet.cache().with(store.blocks()), 0.5);
      Map<String, Object> replica = fleet.replica(i);
      replica.put("kv-connector", "store");
      tree = tree.put("replicas", replica, "test");
    }
    without = tree;
    written = tree.put("stores", entry(publishes, List.of()), "test");
    Environment environment =
        Environment.ofTheMachine().loading((running, content) -> written.config());
    router = fleet.start(written.config(), environment);
    if (publishes) {
      until(() -> fleet.metric("warmpath_event_trust{", "store:pool\",trust=\"none") == 1);
    }
  }

  private Map<String, Object> entry(boolean publishes, List<String> readers) {
    Map<String, Object> entry = new LinkedHashMap<>();
    entry.put("name", "pool");
    if (publishes) {
      entry.put("events", store.eventsEndpoint());
    }
    entry.put("replicas", readers);
    return entry;
  }

  /** The only store, as the fleet's report has it. */
  private JsonNode reported() {
    return LiveFleet.json(fleet.get("/admin/fleet")).path("stores").path(0);
  }

  private List<Integer> round() {
    return fleet.round(PROMPTS, "");
  }

  private double tokens(String result) {
    return fleet.metric("warmpath_store_tokens_total{", "result=\"" + result + "\"");
  }

  private void untilStoreHolds(int blocks) {
    until(() -> fleet.metric("warmpath_store_blocks{", "pool") == blocks);
  }

  @Test
  void whatOneEngineComputedTheOtherLoads() throws Exception {
    start(4_000, true);
    assertThat(round()).containsOnly(0);
    untilStoreHolds(PROMPTS * BLOCKS);
    assertThat(round()).containsOnly(CACHED);
    assertThat(round()).containsOnly(CACHED);
    assertThat(fleet.predictions("exact")).isEqualTo(3.0 * PROMPTS);
    assertThat(tokens("held")).isEqualTo(tokens("served")).isEqualTo(tokens("credited"));
    assertThat(tokens("held")).isGreaterThanOrEqualTo(1.0 * PROMPTS * CACHED);
    assertThat(fleet.metric("warmpath_slow_tier_tokens_total{", "loaded"))
        .isEqualTo(tokens("held"));
    assertThat(fleet.metric("warmpath_store_names_total{", "nameless")).isZero();
  }

  @Test
  void whatItDropsIsCreditedNoMore() throws Exception {
    start(4_000, true);
    round();
    untilStoreHolds(PROMPTS * BLOCKS);
    store.shrink(450);
    untilStoreHolds(450);
    List<Integer> cached = round();
    assertThat(cached).contains(CACHED).anyMatch(tokens -> tokens < CACHED);
    assertThat(fleet.predictions("over")).isZero();
    assertThat(fleet.predictions("under")).isZero();
  }

  /** One that shares it resets it, say. */
  @Test
  void whatItDropsQuietlyIsMissedOnce() throws Exception {
    start(4_000, true);
    round();
    untilStoreHolds(PROMPTS * BLOCKS);
    store.shrink(450);
    untilStoreHolds(450);
    round();
    untilStoreHolds(PROMPTS * BLOCKS);
    store.loseQuietly();
    round();
    double over = fleet.predictions("over");
    assertThat(over).isBetween(1.0, 1.0 * PROMPTS);
    until(() -> store.blocks().size() == PROMPTS * BLOCKS);
    until(() -> fleet.metric("warmpath_store_blocks{", "pool") < PROMPTS * BLOCKS);
    assertThat(round()).as("it holds them again").containsOnly(CACHED);
    until(() -> fleet.metric("warmpath_store_blocks{", "pool") >= PROMPTS * (BLOCKS - 1));
    double exact = fleet.predictions("exact");
    assertThat(round()).as("as answers have shown").containsOnly(CACHED);
    assertThat(fleet.predictions("exact")).isEqualTo(exact + PROMPTS);
    assertThat(fleet.predictions("over")).isEqualTo(over);
  }

  @Test
  void anotherMasterHoldsNothing() throws Exception {
    start(4_000, true);
    round();
    untilStoreHolds(PROMPTS * BLOCKS);
    store.restart();
    untilStoreHolds(0);
    until(() -> fleet.metric("warmpath_event_trust{", "store:pool\",trust=\"exact") == 1);
    assertThat(round()).containsOnly(0);
    untilStoreHolds(PROMPTS * BLOCKS);
    assertThat(round()).containsOnly(CACHED);
    assertThat(fleet.predictions("exact")).isEqualTo(3.0 * PROMPTS);
  }

  @Test
  void storesComeChangeAndGoByAReload() throws Exception {
    start(4_000, true);
    assertThat(round()).containsOnly(0);
    untilStoreHolds(PROMPTS * BLOCKS);
    assertThat(reported().path("readers")).hasToString("[\"e0\",\"e1\"]");
    assertThat(reported().path("trust").asText()).isEqualTo("exact");
    double known = fleet.metric("warmpath_index_blocks{", "engine=\"e");

    written = without.put("stores", entry(true, List.of("e0")), "test");
    assertThat(router.reload("test").applied())
        .extracting(ConfigChange::key)
        .containsExactly("stores[pool].replicas");
    assertThat(reported().path("readers")).hasToString("[\"e0\"]");
    assertThat(reported().path("blocks").asInt()).isEqualTo(PROMPTS * BLOCKS);
    assertThat(fleet.metric("warmpath_index_blocks{", "engine=\"e")).isEqualTo(known);

    written = without;
    assertThat(router.reload("test").problems()).isEmpty();
    assertThat(reported().isMissingNode()).isTrue();
    assertThat(fleet.get("/metrics")).doesNotContain("store=\"pool").doesNotContain("store:pool");
    assertThat(fleet.metric("warmpath_index_blocks{", "engine=\"e")).isEqualTo(known);
    assertThat(round()).as("the engines load as they did").containsOnly(CACHED);

    written = without.put("stores", entry(true, List.of()), "test");
    assertThat(router.reload("test").problems()).isEmpty();
    until(() -> reported().path("reason").asText().startsWith("nothing heard"));
    store.shrink(0);
    until(
        () -> fleet.metric("warmpath_event_stream_total{", "pool\",event=\"blocks_removed") == 900);
    round();
    untilStoreHolds(PROMPTS * BLOCKS);
    double over = fleet.predictions("over");
    assertThat(round()).containsOnly(CACHED);
    assertThat(fleet.predictions("over")).isEqualTo(over);
    assertThat(reported().path("readers")).hasSize(2);
  }

  /** The same store by another name of its host, and by its model. */
  @Test
  void oneThatIsNamedOtherwiseIsReadAnew() throws Exception {
    start(4_000, true);
    round();
    untilStoreHolds(PROMPTS * BLOCKS);
    Map<String, Object> moved = entry(true, List.of());
    moved.put("events", store.eventsEndpoint().replace("127.0.0.1", "localhost"));
    moved.put("model", "sim");
    for (Map<String, Object> now : List.of(moved, entry(true, List.of()))) {
      written = without.put("stores", now, "test");
      assertThat(router.reload("test").problems()).isEmpty();
      until(() -> reported().path("reason").asText().startsWith("nothing heard"));
      assertThat(reported().path("blocks").asInt()).isZero();
      double removed =
          fleet.metric("warmpath_event_stream_total{", "pool\",event=\"blocks_removed");
      store.shrink(0);
      until(() ->
          fleet.metric("warmpath_event_stream_total{", "pool\",event=\"blocks_removed") > removed);
      round();
      untilStoreHolds(PROMPTS * BLOCKS);
      double held = tokens("held");
      double over = fleet.predictions("over");
      assertThat(round()).containsOnly(CACHED);
      assertThat(tokens("held")).as("it is read").isGreaterThan(held);
      assertThat(fleet.predictions("over")).isEqualTo(over);
    }
  }

  /** Its files are deleted by somebody else, say. */
  @Test
  void oneThatNeverPublishesARemovalIsTrustedByAge() throws Exception {
    start(new LiveStore(3 * BLOCKS, false), true);
    round();
    untilStoreHolds(PROMPTS * BLOCKS);
    for (int i = 0; i < 4; i++) {
      assertThat(round()).containsOnly(0);
    }
    double held = tokens("held");
    double credited = tokens("credited");
    round();
    assertThat(tokens("held") - held).isGreaterThanOrEqualTo(7.0 * CACHED);
    assertThat(tokens("credited") - credited).isLessThan(0.2 * (tokens("held") - held));
    assertThat(fleet.predictions("over")).isLessThanOrEqualTo(3);
  }

  /** Its readers tell what it holds; that much is there, so it is counted on. */
  @Test
  void withoutEventsOfItsOwnItIsTrustedByAge() throws Exception {
    start(4_000, false);
    assertThat(round()).containsOnly(0);
    untilStoreHolds(PROMPTS * BLOCKS);
    for (int i = 0; i < 6; i++) {
      assertThat(round()).containsOnly(CACHED);
    }
    assertThat(fleet.predictions("over")).as("nobody can say for certain").isZero();
    assertThat(fleet.predictions("under")).isZero();
    assertThat(tokens("served")).isEqualTo(tokens("held"));
    assertThat(tokens("credited")).isBetween(0.75 * tokens("served"), tokens("served"));
  }

  /** It holds three of nine prompts, so none is left when its turn comes again; nobody hears it. */
  @Test
  void whatItDropsUnheardCostsTrust() throws Exception {
    start(3 * BLOCKS, false);
    round();
    untilStoreHolds(PROMPTS * BLOCKS);
    for (int i = 0; i < 4; i++) {
      assertThat(round()).containsOnly(0);
    }
    double held = tokens("held");
    double credited = tokens("credited");
    round();
    assertThat(tokens("held") - held).isGreaterThanOrEqualTo(7.0 * CACHED);
    assertThat(tokens("credited") - credited).isLessThan(0.2 * (tokens("held") - held));
    assertThat(tokens("served")).isZero();
    assertThat(credited).as("in five rounds").isLessThan(0.4 * held);
  }
}
