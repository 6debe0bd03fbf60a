package dev.warmpath.router.members;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.config.ReplicaConfig;
import dev.warmpath.router.fleet.KvTransfer;
import dev.warmpath.router.prompt.InferenceRules;
import dev.warmpath.router.rig.Rig;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.net.URI;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What a source of kind inference-pool does, likewise; a pool's pods are those called app. */
abstract class InferencePoolScenarios extends KubernetesScenarios {

  private static final String V1 = "inference.networking.k8s.io/v1";
  static final String LLM_D = "llm-d.ai/v1alpha2";
  private static final String V1ALPHA2 = "inference.networking.x-k8s.io/v1alpha2";

  private static final String REPLICA =
      "events: 'tcp://{host}:5557', replay: 'tcp://{host}:5657', kv-connector: nixl";

  private final InferenceRules rules = new InferenceRules(new Random(1));

  /** Sets the status of a pod that there is. */
  abstract void putStatus(Pod pod);

  /** Gives a pod that there is a deletionTimestamp. */
  abstract void terminate(Pod pod);

  final InferenceRules rules() {
    return rules;
  }

  final void startPool(long intervalMillis) {
    start(
        "inference-pool",
        "pool: llm, replica: {" + REPLICA + "}",
        intervalMillis,
        (config, connection) -> new InferencePoolLook(config, rules, connection));
  }

  final void startPool() {
    startPool(DAY);
  }

  private GenericKubernetesResource resource(String api, String name, Map<String, Object> spec) {
    return resource(api, "InferencePool", name, spec);
  }

  final GenericKubernetesResource resource(
      String api, String kind, String name, Map<String, Object> spec) {
    GenericKubernetesResource resource = new GenericKubernetesResource();
    resource.setApiVersion(api);
    resource.setKind(kind);
    resource.setMetadata(new ObjectMetaBuilder().withName(name).withNamespace(namespace()).build());
    resource.setAdditionalProperty("spec", spec);
    return resource;
  }

  private static Map<String, Object> map(String... entries) {
    Map<String, Object> map = new HashMap<>();
    for (int i = 0; i < entries.length; i += 2) {
      map.put(entries[i], entries[i + 1]);
    }
    return map;
  }

  private GenericKubernetesResource named(String name, List<Integer> ports, String... labels) {
    List<Map<String, Integer>> numbers =
        ports.stream().map(port -> Map.of("number", port)).toList();
    return resource(
        V1, name, Map.of("selector", Map.of("matchLabels", map(labels)), "targetPorts", numbers));
  }

  final GenericKubernetesResource pool(List<Integer> ports, String... labels) {
    return named("llm", ports, labels);
  }

  final GenericKubernetesResource olderPool(int port, String... labels) {
    return resource(V1ALPHA2, "llm", Map.of("selector", map(labels), "targetPortNumber", port));
  }

  private PodBuilder engine(String name, Map<String, String> annotations) {
    return podOf(name, annotations)
        .editMetadata()
        .addToLabels("app", "engines")
        .addToLabels("role", name)
        .endMetadata();
  }

  private static Pod withStatus(PodBuilder pod, String ready, String phase, String address) {
    return pod.withNewStatus()
        .withPhase(phase)
        .withPodIP(address)
        .addNewCondition()
        .withType("PodScheduled")
        .withStatus("True")
        .endCondition()
        .addNewCondition()
        .withType("Ready")
        .withStatus(ready)
        .endCondition()
        .endStatus()
        .build();
  }

  final Pod readyPod(String name, String address, Map<String, String> annotations) {
    Pod pod = withStatus(engine(name, annotations), "True", "Running", address);
    put(pod);
    putStatus(pod);
    return pod;
  }

  final void setReady(Pod pod, boolean ready) {
    setStatus(pod, ready ? "True" : "False", "Running", pod.getStatus().getPodIP());
  }

  private void setStatus(Pod pod, String ready, String phase, String address) {
    putStatus(withStatus(new PodBuilder(pod), ready, phase, address));
  }

  @Test
  @DisplayName("a pool is followed when it is created, changed and deleted")
  void aPoolIsCreatedChangedAndDeleted() {
    readyPod("pod-a", "10.1.0.1", Map.of());
    readyPod("pod-b", "10.1.0.2", Map.of());
    put(named("other", List.of(7000), "app", "engines"));
    startPool();
    until(List::isEmpty);
    Rig.until(() -> source().status().refused() == 1);
    put(pool(List.of(8000), "app", "engines"));
    untilNames("pod-a", "pod-b");
    assertThat(replica("pod-a").url()).isEqualTo(URI.create("http://10.1.0.1:8000"));
    assertThat(replica("pod-a").events()).isEqualTo("tcp://10.1.0.1:5557");
    put(pool(List.of(8001), "app", "engines", "role", "pod-b"));
    untilNames("pod-b");
    assertThat(replica("pod-b").url()).isEqualTo(URI.create("http://10.1.0.2:8001"));
    put(pool(List.of(8001), "app", "others"));
    until(List::isEmpty);
    Rig.until(() -> source().status().refused() == 0);
    put(pool(List.of(8001), "app", "engines"));
    untilNames("pod-a", "pod-b");
    delete(pool(List.of(8001), "app", "engines"));
    until(List::isEmpty);
    put(pool(List.of(8002), "app", "engines"));
    until(replicas -> replicas.size() == 2 && replicas.get(1).port() == 8002);
  }

  @Test
  @DisplayName("pods of a pool are replicas while they are ready, matching and not terminating")
  void podsOfAPoolComeAndGo() {
    put(pool(List.of(8000), "app", "engines"));
    startPool();
    until(List::isEmpty);
    Pod a = readyPod("pod-a", "10.1.0.1", Map.of());
    untilNames("pod-a");
    Pod b = readyPod("pod-b", "10.1.0.2", Map.of());
    untilNames("pod-a", "pod-b");
    setStatus(a, "False", "Running", "10.1.0.1");
    untilNames("pod-b");
    setStatus(a, "True", "Running", "10.1.0.3");
    until(replicas -> replicas.size() == 2 && replica("pod-a").url().getHost().endsWith(".3"));
    setStatus(b, "True", "Failed", null); // evicted: its address is gone before it is
    untilNames("pod-a");
    put(new PodBuilder(a).editMetadata().addToLabels("app", "parked").endMetadata().build());
    until(List::isEmpty);
    put(new PodBuilder(a).editMetadata().addToLabels("app", "engines").endMetadata().build());
    untilNames("pod-a");
    terminate(a);
    until(List::isEmpty);
    Pod c = readyPod("pod-c", "10.1.0.4", Map.of());
    untilNames("pod-c");
    delete(c);
    until(List::isEmpty);
  }

  @Test
  @DisplayName("each port of a pool is a replica of its pod, with the events of its rank")
  void portsAreRanks() {
    readyPod("pod-a", "10.1.0.1", Map.of("warmpath.dev/first-rank", "8"));
    readyPod("pod-b", "10.1.0.2", Map.of("llm-d.ai/active-ports", "8001, 9999"));
    readyPod("pod-c", "10.1.0.3", Map.of("inference.networking.k8s.io/active-ports", "8000"));
    readyPod("pod-d", "10.1.0.4", Map.of("llm-d.ai/active-ports", ""));
    put(pool(List.of(8000, 8001), "app", "engines"));
    startPool();
    untilNames("pod-a-rank-0", "pod-a-rank-1", "pod-b-rank-1", "pod-c-rank-0");
    assertThat(replica("pod-b-rank-1").url()).isEqualTo(URI.create("http://10.1.0.2:8001"));
    assertThat(replica("pod-b-rank-1").eventsOf(0)).isEqualTo("tcp://10.1.0.2:5558");
    assertThat(replica("pod-b-rank-1").replayOf(0)).isEqualTo("tcp://10.1.0.2:5658");
    assertThat(replica("pod-c-rank-0").eventsOf(0)).isEqualTo("tcp://10.1.0.3:5557");
    assertThat(replica("pod-a-rank-1").firstRank()).isEqualTo(9);
    assertThat(replica("pod-a-rank-1").eventsOf(0)).isEqualTo("tcp://10.1.0.1:5566");
  }

  @Test
  @DisplayName("a pod's annotations count in a pool, and a bad one refuses its pod alone")
  void annotationsCountInAPool() {
    readyPod(
        "pod-a",
        "10.1.0.1",
        Map.of(
            "warmpath.dev/events-port", "6001",
            "warmpath.dev/models", "m1",
            "warmpath.dev/role", "prefill"));
    Pod b = readyPod("pod-b", "10.1.0.2", Map.of("warmpath.dev/events-port", "many"));
    put(pool(List.of(8000), "app", "engines"));
    startPool();
    untilNames("pod-a");
    ReplicaConfig annotated = replica("pod-a");
    assertThat(annotated.events()).isEqualTo("tcp://10.1.0.1:6001");
    assertThat(annotated.models()).containsExactly("m1");
    assertThat(annotated.transfer().role()).isEqualTo(KvTransfer.Role.PREFILL);
    Rig.until(() -> source().status().refused() == 1);
    put(
        new PodBuilder(b)
            .editMetadata()
            .addToAnnotations("warmpath.dev/events-port", "6002")
            .endMetadata()
            .build());
    untilNames("pod-a", "pod-b");
  }

  @Test
  @DisplayName("a pool's replicas stay while the API server is away; a broken watch loses nothing")
  void anOutageKeepsThePool() {
    readyPod("pod-a", "10.1.0.1", Map.of());
    put(pool(List.of(8000), "app", "engines"));
    startPool(SHORT);
    untilNames("pod-a");
    for (int i = 1; i < 4; i++) {
      int port = 8000 + i;
      relay().cutOnce();
      put(pool(List.of(port), "app", "engines"));
      until(replicas -> replicas.get(0).port() == port);
    }
    relay().cut();
    Rig.until(() -> source().problem() != null && source().status().failures() >= 2);
    delete(pool(List.of(8003), "app", "engines"));
    assertThat(names(source().status().replicas() == 1 ? List.of(replica("pod-a")) : List.of()))
        .containsExactly("pod-a");
    relay().mend();
    until(List::isEmpty);
  }

  final GenericKubernetesResource objective(String api, String name, String pool, Object priority) {
    return resource(
        api,
        "InferenceObjective",
        name,
        Map.of("poolRef", Map.of("name", pool), "priority", priority));
  }

  final GenericKubernetesResource rewrite(String api, String name, String rules) {
    String yaml = "--- {spec: {poolRef: {name: llm}, rules: " + rules + "}}";
    GenericKubernetesResource read = Serialization.unmarshal(yaml, GenericKubernetesResource.class);
    Map<String, Object> spec = read.get("spec");
    return resource(api, "InferenceModelRewrite", name, spec);
  }

  @Test
  @DisplayName("objectives of a pool have the priorities that they have now, in either API group")
  void objectivesAreFollowed() {
    startPool();
    Rig.until(() -> rules.isInUse());
    assertThat(rules.priority("chat")).isZero();
    put(objective(LLM_D, "chat", "llm", 10));
    put(objective(V1ALPHA2, "batch", "llm", -5));
    put(objective(V1ALPHA2, "chat", "llm", 3));
    put(objective(LLM_D, "foreign", "other", 7));
    Rig.until(() -> rules.priority("chat") == 10 && rules.priority("batch") == -5);
    assertThat(rules.priority("foreign")).isZero();
    put(objective(LLM_D, "chat", "llm", 11));
    Rig.until(() -> rules.priority("chat") == 11);
    delete(objective(LLM_D, "chat", "llm", 11));
    Rig.until(() -> rules.priority("chat") == 3);
  }

  @Test
  @DisplayName("rewrites of a pool are followed, an exact one before one for all models")
  void rewritesAreFollowed() {
    startPool();
    put(rewrite(LLM_D, "all", "[{targets: [{modelRewrite: base}]}]"));
    Rig.until(() -> "base".equals(rules.rewritten("m", null)));
    put(
        rewrite(
            V1ALPHA2,
            "one",
            "[{matches: [{model: {type: Exact, value: m}}, {model: {value: n}}],"
                + " targets: [{modelRewrite: m-1, weight: 1}]}]"));
    Rig.until(() -> "m-1".equals(rules.rewritten("m", null)));
    assertThat(rules.rewritten("n", "a session")).isEqualTo("m-1");
    assertThat(rules.rewritten("o", null)).isEqualTo("base");
    assertThat(rules.rewritten("base", null)).isNull();
    delete(rewrite(LLM_D, "all", "[{targets: [{modelRewrite: base}]}]"));
    Rig.until(() -> rules.rewritten("o", null) == null);
  }
}
