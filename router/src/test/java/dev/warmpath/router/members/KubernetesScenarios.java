package dev.warmpath.router.members;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.config.ConfigException;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.config.DiscoveryConfig;
import dev.warmpath.router.config.ReplicaConfig;
import dev.warmpath.router.rig.Rig;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointBuilder;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointPort;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointPortBuilder;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSliceBuilder;
import io.fabric8.kubernetes.client.Config;
import java.net.URI;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * What a source of kind kubernetes does as objects of an API server change, whatever that server
 * is. Where the connection is not cut, the interval between two looks is a day: the watch sees all.
 */
abstract class KubernetesScenarios {

  private static final String SERVICE = "vllm";
  private static final String KEYS = "service: vllm, replica: {events: 'tcp://{host}:5557'}";
  static final long DAY = 86_400_000;
  static final long SHORT = 2_000;

  private final Map<String, String> uids = new HashMap<>();
  private volatile List<ReplicaConfig> found;
  private ReplicaSource source;

  /** Creates or replaces an object; returns its uid. */
  abstract String put(HasMetadata object);

  abstract void delete(HasMetadata object);

  /** How the source reaches the server: through the relay. */
  abstract Config credentials();

  abstract Relay relay();

  abstract String namespace();

  @AfterEach
  void closeSource() {
    if (source != null) {
      source.close();
    }
  }

  final void start(String keys, long intervalMillis) {
    start("kubernetes", keys, intervalMillis, KubernetesLook::new);
  }

  final void start(
      String kind,
      String keys,
      long intervalMillis,
      BiFunction<DiscoveryConfig, KubernetesConnection, Look> looks) {
    String yaml =
        "discovery:\n  - {kind: %s, namespace: %s, %s}".formatted(kind, namespace(), keys);
    try {
      Look look =
          looks.apply(
              ConfigTree.parse(yaml, "f.yaml").config().discovery().get(0),
              new KubernetesConnection(this::credentials));
      source = new ReplicaSource(kind, look, intervalMillis, System::nanoTime);
      source.start(replicas -> found = replicas);
    } catch (ConfigException e) {
      throw new IllegalArgumentException(e);
    }
  }

  final void start(String keys) {
    start(keys, DAY);
  }

  final void start() {
    start(KEYS);
  }

  final ReplicaSource source() {
    return source;
  }

  final void until(Predicate<List<ReplicaConfig>> holds) {
    try {
      Rig.until(() -> found != null && holds.test(found));
    } catch (AssertionError e) {
      throw new AssertionError("found=" + found + " status=" + source.status(), e);
    }
  }

  final void untilNames(String... names) {
    until(replicas -> names(replicas).equals(List.of(names)));
  }

  static List<String> names(List<ReplicaConfig> replicas) {
    return replicas.stream().map(ReplicaConfig::name).toList();
  }

  final ReplicaConfig replica(String name) {
    return found.stream().filter(replica -> replica.name().equals(name)).findFirst().orElseThrow();
  }

  final void pod(String name, Map<String, String> annotations) {
    uids.put(name, put(podOf(name, annotations).build()));
  }

  final PodBuilder podOf(String name, Map<String, String> annotations) {
    return new PodBuilder()
        .withNewMetadata()
        .withName(name)
        .withNamespace(namespace())
        .withAnnotations(annotations)
        .endMetadata()
        .withNewSpec()
        .addToNodeSelector("warmpath.dev/nowhere", "")
        .addNewContainer()
        .withName("engine")
        .withImage("none")
        .endContainer()
        .endSpec();
  }

  final EndpointSliceBuilder slice(String name, EndpointPort... ports) {
    return new EndpointSliceBuilder()
        .withNewMetadata()
        .withName(name)
        .withNamespace(namespace())
        .addToLabels("kubernetes.io/service-name", SERVICE)
        .addToLabels("app", "engines")
        .endMetadata()
        .withAddressType("IPv4")
        .withPorts(ports);
  }

  static EndpointPort port(String name, int port) {
    return new EndpointPortBuilder().withName(name).withPort(port).withProtocol("TCP").build();
  }

  final EndpointBuilder endpoint(String pod, String address, Boolean ready, Boolean terminating) {
    return new EndpointBuilder()
        .withAddresses(address)
        .withNewConditions()
        .withReady(ready)
        .withServing(ready)
        .withTerminating(terminating)
        .endConditions()
        .withNewTargetRef()
        .withKind("Pod")
        .withName(pod)
        .withNamespace(namespace())
        .withUid(uids.get(pod))
        .endTargetRef();
  }

  final void create(EndpointSliceBuilder slice) {
    put(slice.build());
  }

  /** The slice has one port, http, and these endpoints. */
  final void setEndpoints(String name, EndpointBuilder... endpoints) {
    create(
        slice(name, port("http", 8000))
            .withEndpoints(Stream.of(endpoints).map(EndpointBuilder::build).toList()));
  }

  private EndpointBuilder ready(String pod, String address) {
    return endpoint(pod, address, true, false);
  }

  @Test
  @DisplayName("endpoints appear, and leave when they are not ready, terminating or gone")
  void endpointsComeAndGo() {
    start();
    until(List::isEmpty);
    pod("pod-a", Map.of());
    pod("pod-b", Map.of());
    setEndpoints("s1", endpoint("pod-a", "10.1.0.1", false, false), ready("pod-b", "10.1.0.2"));
    untilNames("pod-b");
    setEndpoints("s1", ready("pod-a", "10.1.0.1"), ready("pod-b", "10.1.0.2"));
    untilNames("pod-a", "pod-b");
    assertThat(replica("pod-a").url()).isEqualTo(URI.create("http://10.1.0.1:8000"));
    assertThat(replica("pod-a").events()).isEqualTo("tcp://10.1.0.1:5557");
    setEndpoints("s1", endpoint("pod-a", "10.1.0.1", false, false), ready("pod-b", "10.1.0.2"));
    untilNames("pod-b");
    setEndpoints("s1", ready("pod-a", "10.1.0.1"), endpoint("pod-b", "10.1.0.2", true, true));
    untilNames("pod-a");
    create(slice("s2", port("http", 8000)).withEndpoints(ready("pod-b", "10.1.0.3").build()));
    untilNames("pod-a", "pod-b");
    delete(slice("s1").build());
    untilNames("pod-b");
    setEndpoints("s2");
    until(List::isEmpty);
  }

  @Test
  @DisplayName("a pod's annotations give the ports of its events and the kind of its engine")
  void annotationsOfAPodCount() {
    pod(
        "pod-a",
        Map.of(
            "warmpath.dev/events-port", "6001",
            "warmpath.dev/replay-port", "6101",
            "warmpath.dev/dialect", "sglang",
            "warmpath.dev/models", "m1, org/m2",
            "warmpath.dev/ranks", "2",
            "other/events-port", "7"));
    pod("pod-b", Map.of());
    pod("pod-c", Map.of("warmpath.dev/events-port", "many"));
    pod("pod-d", Map.of("warmpath.dev/dialect", "other"));
    create(
        slice("s1", port("http", 8000))
            .withEndpoints(
                ready("pod-a", "10.1.0.1").build(),
                ready("pod-b", "10.1.0.2").build(),
                ready("pod-c", "10.1.0.3").build(),
                ready("pod-d", "10.1.0.4").build()));
    start();
    untilNames("pod-a", "pod-b");
    ReplicaConfig annotated = replica("pod-a");
    assertThat(annotated.events()).isEqualTo("tcp://10.1.0.1:6001");
    assertThat(annotated.replay()).isEqualTo("tcp://10.1.0.1:6101");
    assertThat(annotated.dialect()).isEqualTo(ReplicaConfig.Dialect.SGLANG);
    assertThat(annotated.models()).containsExactly("m1", "org/m2");
    assertThat(annotated.ranks()).isEqualTo(2);
    assertThat(replica("pod-b").events()).isEqualTo("tcp://10.1.0.2:5557");
    assertThat(replica("pod-b").replay()).isNull();
    Rig.until(() -> source.status().refused() == 2);
  }

  @Test
  @DisplayName("slices are found by label, ports by name or number, IPv6 where there is no IPv4")
  void slicesPortsAndFamilies() {
    pod("pod-a", Map.of());
    pod("pod-b", Map.of());
    create(
        slice("s1", port("metrics", 9000), port("http", 8000))
            .withEndpoints(ready("pod-a", "10.1.0.1").build()));
    create(
        slice("s2", port("metrics", 9000), port("http", 8001))
            .withAddressType("IPv6")
            .withEndpoints(ready("pod-a", "fd00::1").build(), ready("pod-b", "fd00::2").build()));
    start("selector: 'app=engines,app!=other', port-name: http");
    untilNames("pod-a", "pod-b");
    assertThat(replica("pod-a").url()).isEqualTo(URI.create("http://10.1.0.1:8000"));
    assertThat(replica("pod-b").url()).isEqualTo(URI.create("http://[fd00::2]:8001"));
    source.close();
    start("service: vllm, selector: app=engines, port: 7000");
    until(replicas -> replicas.stream().allMatch(replica -> replica.port() == 7000));
    source.close();
    start("service: vllm");
    until(List::isEmpty);
    Rig.until(() -> source.status().refused() == 2);
  }

  @Test
  @DisplayName("while the API server cannot be reached the last set stays; then changes are seen")
  void anOutageKeepsTheLastSet() {
    pod("pod-a", Map.of());
    create(slice("s1", port("http", 8000)).withEndpoints(ready("pod-a", "10.1.0.1").build()));
    start(KEYS, SHORT);
    untilNames("pod-a");
    relay().cut();
    Rig.until(() -> source.problem() != null && source.status().failures() >= 2);
    pod("pod-b", Map.of());
    setEndpoints("s1", ready("pod-b", "10.1.0.2"));
    assertThat(names(found)).containsExactly("pod-a");
    assertThat(source.status().replicas()).isEqualTo(1);
    relay().mend();
    untilNames("pod-b");
    Rig.until(() -> source.problem() == null);
  }

  @Test
  @DisplayName("a watch that breaks is begun again, and nothing that changed meanwhile is lost")
  void aBrokenWatchIsBegunAgain() {
    pod("pod-a", Map.of());
    create(slice("s1", port("http", 8000)).withEndpoints(ready("pod-a", "10.1.0.1").build()));
    start(KEYS, SHORT);
    untilNames("pod-a");
    for (int i = 2; i < 5; i++) {
      relay().cutOnce();
      setEndpoints("s1", ready("pod-a", "10.1.0." + i));
      URI url = URI.create("http://10.1.0." + i + ":8000");
      until(replicas -> replicas.get(0).url().equals(url));
    }
  }
}
