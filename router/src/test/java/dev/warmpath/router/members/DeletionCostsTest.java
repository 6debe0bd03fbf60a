package dev.warmpath.router.members;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.config.ReplicaTemplate;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class DeletionCostsTest {

  private final ApiServer server = new ApiServer();
  private final AtomicLong nanos = new AtomicLong();
  private final KubernetesConnection connection = new KubernetesConnection(this::credentials);
  private final DeletionCosts costs = new DeletionCosts(connection, nanos::get);
  private final Pod a = pod("pod-a");
  private final Pod b = pod("pod-b");

  @BeforeEach
  void findPods() throws Exception {
    server.put(a);
    server.put(b);
    found("pod-a", "pod-b");
  }

  @AfterEach
  void stop() {
    connection.close();
    server.close();
  }

  @Test
  void eachPodGetsWhatItsReplicaIsWorthInMilliseconds() {
    costs.write(Map.of("pod-a", 1.5, "pod-b", 20.0, "elsewhere", 3.0));
    assertThat(cost(a)).isEqualTo("1500");
    assertThat(cost(b)).isEqualTo("20000");
    costs.write(Map.of("pod-a", 1e9));
    assertThat(server.patches()).as("the minute is not over").containsExactly("pod-a", "pod-b");
    pass(60);
    costs.write(Map.of("pod-a", 1e9));
    assertThat(cost(a)).isEqualTo(String.valueOf(Integer.MAX_VALUE));
  }

  @Test
  void aPodIsWrittenOnceAMinuteAndOnlyWhenMuchHasChanged() {
    for (int second = 0; second < 300; second += 10) {
      costs.write(Map.of("pod-a", 1.0 + second, "pod-b", 5.0 + second / 1e3));
      pass(10);
    }
    assertThat(server.patches().stream().filter(pod -> pod.equals("pod-a"))).hasSize(5);
    assertThat(server.patches().stream().filter(pod -> pod.equals("pod-b"))).hasSize(1);
  }

  @Test
  void withoutTheRightNothingIsWrittenUntilItIsGiven() {
    server.forbid("pods/pod-a");
    costs.write(Map.of("pod-a", 1.0, "pod-b", 2.0));
    assertThat(server.patches()).isEmpty();
    server.forbid("");
    pass(599);
    costs.write(Map.of("pod-a", 1.0, "pod-b", 2.0));
    assertThat(server.patches()).isEmpty();
    pass(1);
    costs.write(Map.of("pod-a", 1.0, "pod-b", 2.0));
    assertThat(server.patches()).containsExactly("pod-a", "pod-b");
  }

  @Test
  void aPodThatIsGoneKeepsNobodyBack() throws Exception {
    server.delete(a);
    costs.write(Map.of("pod-a", 1.0, "pod-b", 2.0));
    assertThat(server.patches()).containsExactly("pod-b");
    found("pod-a");
    found("pod-a", "pod-b");
    costs.write(Map.of("pod-b", 2.0));
    assertThat(server.patches()).containsExactly("pod-b");
  }

  private void found(String... pods) throws Exception {
    ReplicaTemplate template =
        ConfigTree.parse(
                "discovery: [{kind: kubernetes, service: s, deletion-cost: true}]", "f.yaml")
            .config()
            .discovery()
            .get(0)
            .replica();
    Found found = new Found();
    for (String pod : List.of(pods)) {
      found.add(template, pod, address(pod), 8000, Map.of());
    }
    costs.found(
        "test",
        found,
        Map.of(address("pod-a") + ":8000", "pod-a", address("pod-b") + ":8000", "pod-b"));
  }

  private static String address(String pod) {
    return pod.equals("pod-a") ? "10.1.0.1" : "10.1.0.2";
  }

  private static String cost(Pod pod) {
    return pod.getMetadata().getAnnotations().get(DeletionCosts.ANNOTATION);
  }

  private void pass(long seconds) {
    nanos.addAndGet(TimeUnit.SECONDS.toNanos(seconds));
  }

  private static Pod pod(String name) {
    return new PodBuilder()
        .withNewMetadata()
        .withName(name)
        .withNamespace("test")
        .endMetadata()
        .build();
  }

  private Config credentials() {
    return new ConfigBuilder(Config.empty())
        .withMasterUrl("http://127.0.0.1:" + server.port())
        .withNamespace("test")
        .build();
  }
}
