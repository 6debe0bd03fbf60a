package dev.warmpath.router.members;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.rig.Rig;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.vertx.core.net.SocketAddress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The scenarios, and those that a real API server cannot be made to do. */
class KubernetesLookTest extends InferencePoolScenarios {

  private final ApiServer server = new ApiServer();
  private final Relay relay =
      new Relay(SocketAddress.inetSocketAddress(server.port(), "127.0.0.1"));

  @AfterEach
  void stopServer() {
    closeSource();
    relay.close();
    server.close();
  }

  @Override
  String put(HasMetadata object) {
    object.getMetadata().setUid("uid-" + object.getMetadata().getName());
    server.put(object);
    return object.getMetadata().getUid();
  }

  @Override
  void delete(HasMetadata object) {
    server.delete(object);
  }

  @Override
  void putStatus(Pod pod) {
    put(pod);
  }

  @Override
  void terminate(Pod pod) {
    put(
        new PodBuilder(pod)
            .editMetadata()
            .withDeletionTimestamp("2026-01-01T00:00:00Z")
            .endMetadata()
            .build());
  }

  @Override
  Config credentials() {
    return new ConfigBuilder(Config.empty())
        .withMasterUrl("http://127.0.0.1:" + relay.port())
        .withNamespace(namespace())
        .build();
  }

  @Override
  Relay relay() {
    return relay;
  }

  @Override
  String namespace() {
    return "test";
  }

  @Test
  @DisplayName("a kubeconfig is read and written with the only YAML parser that there is")
  void aKubeconfigIsRead() {
    Config config =
        Config.fromKubeconfig(
            """
            current-context: c
            contexts: [{name: c, context: {cluster: k, user: u, namespace: n}}]
            clusters: [{name: k, cluster: {server: "https://api.example:6443"}}]
            users: [{name: u, user: {username: operator}}]
            """);
    assertThat(config.getMasterUrl()).isEqualTo("https://api.example:6443/");
    assertThat(config.getNamespace()).isEqualTo("n");
    assertThat(config.getUsername()).isEqualTo("operator");
    assertThat(Serialization.asYaml(Map.of("server", "s"))).contains("server");
  }

  @Test
  @DisplayName("a watch whose version is too old is begun again from a new list")
  void aVersionThatIsGoneIsListedAnew() {
    server.endNextWatch();
    pod("pod-a", Map.of());
    setEndpoints("s1", endpoint("pod-a", "10.1.0.1", true, false));
    start();
    untilNames("pod-a");
    Rig.until(() -> server.lists() >= 2);
    assertThat(source().problem()).isNull();
    pod("pod-b", Map.of());
    setEndpoints("s1", endpoint("pod-b", "10.1.0.2", true, false));
    untilNames("pod-b");
  }

  @Test
  @DisplayName("of a pool's pods only what is read of them wakes the source")
  void otherChangesOfPodsWakeNobody() {
    put(pool(List.of(8000), "app", "engines"));
    readyPod("pod-a", "10.1.0.1", Map.of());
    startPool();
    untilNames("pod-a");
    int lists = server.lists();
    for (int i = 0; i < 5; i++) {
      readyPod("pod-a", "10.1.0.1", Map.of(DeletionCosts.ANNOTATION, String.valueOf(i)));
    }
    readyPod("pod-a", "10.1.0.1", Map.of("warmpath.dev/events-port", "6001"));
    until(replicas -> replica("pod-a").events().endsWith(":6001"));
    assertThat(server.lists() - lists).as("one look, at the pool and its pods").isEqualTo(2);
  }

  @Test
  @DisplayName("a refused request names what is not allowed, and keeps the last set")
  void aRefusalIsShown() {
    pod("pod-a", Map.of());
    pod("pod-b", Map.of());
    setEndpoints("s1", endpoint("pod-a", "10.1.0.1", true, false));
    start();
    untilNames("pod-a");
    server.forbid("pods/pod-b");
    setEndpoints("s1", endpoint("pod-b", "10.1.0.2", true, false));
    Rig.until(() -> "no pods/pod-b (403)".equals(source().problem()));
    untilNames("pod-a");
    server.forbid("");
    untilNames("pod-b");
  }

  @Test
  @DisplayName("what replicas are worth becomes their pods' deletion costs, if that is wanted")
  void deletionCostsAreKept() {
    pod("pod-a", Map.of());
    pod("pod-b", Map.of());
    setEndpoints(
        "s1",
        endpoint("pod-a", "10.1.0.1", true, false),
        endpoint("pod-b", "10.1.0.2", true, false));
    start();
    untilNames("pod-a", "pod-b");
    source().worth(Map.of("pod-a", 1.5, "pod-b", 2.0));
    assertThat(server.patches()).isEmpty();
    closeSource();
    AtomicLong nanos = new AtomicLong();
    start(
        "kubernetes",
        "service: vllm, deletion-cost: true",
        DAY,
        (config, connection) -> new KubernetesLook(config, connection, nanos::get));
    nanos.addAndGet(TimeUnit.MINUTES.toNanos(5));
    untilNames("pod-a", "pod-b");
    Rig.until(() -> {
      source().worth(Map.of("pod-a", 1.5, "pod-b", 2.0));
      return server.patches().equals(List.of("pod-a", "pod-b"));
    });
  }

  @Test
  @DisplayName("a pool of the older API group is found where the newer one is not served")
  void theOlderGroupIsReadWhereTheNewerIsNotServed() {
    server.withoutGroup("inference.networking.k8s.io");
    readyPod("pod-a", "10.1.0.1", Map.of());
    startPool();
    until(List::isEmpty);
    put(olderPool(8000, "app", "engines"));
    untilNames("pod-a");
    put(olderPool(9000, "app", "engines"));
    until(replicas -> replicas.get(0).port() == 9000);
    server.withoutGroup("");
    put(pool(List.of(8001), "app", "engines"));
    put(olderPool(9001, "app", "engines"));
    until(replicas -> replicas.get(0).port() == 8001);
    delete(pool(List.of(8001), "app", "engines"));
    until(replicas -> replicas.get(0).port() == 9001);
  }

  @Test
  @DisplayName("without the CRD of either group the source says so, and looks on")
  void aMissingDefinitionIsNamed() {
    server.withoutGroup("inference.networking");
    startPool();
    Rig.until(() -> String.valueOf(source().problem()).contains("CRD is not installed"));
    server.withoutGroup("");
    readyPod("pod-a", "10.1.0.1", Map.of());
    put(pool(List.of(8000), "app", "engines"));
    untilNames("pod-a");
  }

  @Test
  @DisplayName("a rule that makes no sense is named with its field, and the others hold")
  void aBadRuleIsRefusedAlone() {
    readyPod("pod-a", "10.1.0.1", Map.of());
    put(pool(List.of(8000), "app", "engines"));
    put(objective(LLM_D, "good", "llm", 1));
    put(objective(LLM_D, "bad", "llm", "high"));
    put(rewrite(LLM_D, "b1", "[{matches: [{model: {type: Prefix, value: m}}], targets: []}]"));
    put(rewrite(LLM_D, "b2", "[{targets: [{modelRewrite: m, weight: -1}]}]"));
    startPool();
    untilNames("pod-a");
    Rig.until(() -> source().status().refused() == 3);
    assertThat(rules().priority("good")).isEqualTo(1);
    assertThat(rules().rewritten("n", null)).isNull();
    server.forbid("inferenceobjectives");
    put(objective(LLM_D, "good", "llm", 2));
    Rig.until(() -> rules().priority("good") == 0);
    put(pool(List.of(8001), "app", "engines"));
    until(replicas -> replicas.get(0).port() == 8001);
    assertThat(source().problem()).isNull();
  }

  @Test
  @DisplayName("a pool that makes no sense is named with its field, and the last set stays")
  void aBadPoolIsNamed() {
    readyPod("pod-a", "10.1.0.1", Map.of());
    put(pool(List.of(8000), "app", "engines"));
    startPool();
    untilNames("pod-a");
    Map<GenericKubernetesResource, String> bad =
        Map.of(
            pool(List.of(8000, 8000), "app", "engines"),
            "'spec.targetPorts[1].number' is given twice: 8000",
            pool(List.of(0), "app", "engines"),
            "'spec.targetPorts[0].number' must be a port: 0",
            pool(List.of(), "app", "engines"),
            "'spec.targetPorts' must hold 1 to 8 ports: []",
            pool(List.of(8000)),
            "'spec.selector.matchLabels' must hold 1 to 64 labels: {}");
    bad.forEach((pool, problem) -> {
      put(pool);
      Rig.until(() -> ("InferencePool test/llm: " + problem).equals(source().problem()));
    });
    assertThat(source().status().replicas()).isEqualTo(1);
    put(pool(List.of(8001), "app", "engines"));
    until(replicas -> replicas.get(0).port() == 8001);
    Rig.until(() -> source().problem() == null);
  }
}
