package dev.warmpath.simulator.live;

import static dev.warmpath.simulator.live.LiveFleet.CACHED;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.Trust;
import dev.warmpath.router.Environment;
import dev.warmpath.router.RouterProcess;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.simulator.live.KvTransferOptions.Role;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A router before engines that can have what others hold in host memory, over real sockets. */
@Timeout(120)
class PullTest {

  private static final int PROMPTS = 9; // odd: each round takes the other engine

  private final LiveFleet fleet = new LiveFleet();
  private final List<LiveEngine> engines = new ArrayList<>();
  private RouterProcess router;

  @BeforeEach
  void startEngines() {
    KvTransferOptions offloading = KvTransferOptions.of(KvConnector.OFFLOADING, Role.BOTH);
    for (int i = 0; i < 2; i++) {
      engines.add(fleet.engine(LiveFleet.cache().withHost(4_000), 0.5, offloading));
    }
  }

  @AfterEach
  void stop() {
    fleet.close();
  }

  private void startRouter(int... kvPorts) throws Exception {
    ConfigTree tree =
        LiveFleet.config()
            .set("policy.name", "round-robin", "test")
            .set("policy.split", "never", "test")
            .set("policy.load-back", "always", "test")
            .set("policy.pull", true, "test");
    for (int i = 0; i < engines.size(); i++) {
      Map<String, Object> replica = fleet.replica(i);
      replica.put("kv-connector", "offloading");
      replica.put("kv-port", (long) kvPorts[i]);
      tree = tree.put("replicas", replica, "test");
    }
    router = fleet.start(tree.config(), Environment.ofTheMachine());
  }

  private List<Integer> round(String more) {
    return fleet.round(PROMPTS, more);
  }

  private int kvPort(int engine) {
    return engines.get(engine).ports().http();
  }

  @Test
  void eachEngineGetsWhatTheOtherHolds() throws Exception {
    startRouter(kvPort(0), kvPort(1));
    assertThat(round("")).containsOnly(0);
    assertThat(round("")).containsOnly(CACHED);
    assertThat(fleet.slowTokens("pulled")).isEqualTo(1.0 * PROMPTS * CACHED);
    assertThat(round("")).as("by now both hold all").containsOnly(CACHED);
    assertThat(fleet.slowTokens("pulled")).isEqualTo(1.0 * PROMPTS * CACHED);
    assertThat(fleet.slowTokens("missed")).isZero();
    assertThat(fleet.predictions("exact")).isEqualTo(3.0 * PROMPTS);
    assertThat(fleet.predictions("over")).isZero();
    assertThat(fleet.predictions("under")).isZero();
  }

  @Test
  void whomAClientNamesIsNotAsked() throws Exception {
    startRouter(kvPort(0), kvPort(1));
    assertThat(round("")).containsOnly(0);
    router.dispatcher().pulls(false);
    String own =
        ",\"kv_transfer_params\":{\"remote_kv_source\":{\"kv_request_id\":\"x\","
            + "\"remote_host\":\"127.0.0.1\",\"remote_port\":%d}}";
    assertThat(round(own.formatted(kvPort(0)))).containsOnly(0);
    assertThat(fleet.slowTokens("pulled")).isZero();
  }

  @Test
  void whoCannotBeReachedIsNotAskedForLong() throws Exception {
    startRouter(1, 1); // nobody listens there
    assertThat(round("")).containsOnly(0);
    assertThat(round("")).as("they compute instead").containsOnly(0);
    assertThat(fleet.predictions("over")).as("three times at each").isEqualTo(6.0);
    assertThat(fleet.slowTokens("pulled")).isEqualTo(6.0 * CACHED);
    assertThat(fleet.slowTokens("missed")).isEqualTo(6.0 * CACHED);
    assertThat(round("")).containsOnly(CACHED);
    assertThat(fleet.slowTokens("pulled")).isEqualTo(6.0 * CACHED);
    assertThat(fleet.predictions("over")).isEqualTo(6.0);
    assertThat(router.dispatcher().report())
        .as("their indexes are not doubted for that")
        .allMatch(report -> report.view().trust() == Trust.EXACT);
  }
}
