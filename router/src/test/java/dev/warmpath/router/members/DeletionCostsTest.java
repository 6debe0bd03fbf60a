package dev.warmpath.router.members;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.warmpath.router.config.ConfigException;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.config.ReplicaTemplate;
import dev.warmpath.router.rig.Rig;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.vertx.core.http.HttpMethod;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class DeletionCostsTest {

  private final ApiServer server = new ApiServer();
  private final AtomicLong nanos = new AtomicLong();
  private final KubernetesConnection connection = new KubernetesConnection(this::credentials);
  private final DeletionCosts costs = new DeletionCosts("test", connection, nanos::get);
  private final Pod a = pod("pod-a");
  private final Pod b = pod("pod-b");

  @BeforeEach
  void findPods() {
    server.put(a);
    server.put(b);
    found("pod-a", "pod-b");
    pass(300);
  }

  @AfterEach
  void stop() {
    costs.close();
    connection.close();
    server.close();
  }

  @Test
  void eachPodGetsWhatItsReplicaIsWorthInMilliseconds() {
    costs.write(Map.of("pod-a", 1.5, "pod-b", 20.0, "elsewhere", 3.0));
    assertThat(cost(a)).isEqualTo("1500");
    assertThat(cost(b)).isEqualTo("20000");
    pass(59);
    costs.write(Map.of("pod-a", 1e9));
    assertThat(server.patches()).as("the minute is not over").containsExactly("pod-a", "pod-b");
    pass(1);
    costs.write(Map.of("pod-a", 1e9));
    assertThat(cost(a)).isEqualTo(String.valueOf(Integer.MAX_VALUE));
    assertThat(cost(b)).as("it is not known any more").isEqualTo("20000");
  }

  @Test
  void nothingIsWrittenForTheFirstFiveMinutes() {
    DeletionCosts fresh = new DeletionCosts("test", connection, nanos::get);
    found(fresh, 8000, "pod-a", "pod-b");
    pass(299);
    fresh.write(Map.of("pod-a", 1.0, "pod-b", 2.0));
    assertThat(server.tries()).isEmpty();
    pass(1);
    fresh.write(Map.of("pod-a", 1.0, "pod-b", 2.0));
    assertThat(server.patches()).containsExactly("pod-a", "pod-b");
  }

  @Test
  void nobodyWaitsForASlowServer() {
    synchronized (server) { // it answers nothing
      for (int i = 1; i <= 100; i++) {
        costs.update(Map.of("pod-a", 1.0, "pod-b", 1.0 * i));
      }
    }
    Rig.until(() -> server.patches().size() == 2);
    Rig.until(() -> {
      pass(60);
      costs.update(Map.of("pod-a", 1.0, "pod-b", 1_000.0));
      return "1000000".equals(cost(b));
    });
    assertThat(cost(a)).isEqualTo("1000");
  }

  @Test
  void routersThatKnowTheSameWriteOnceAndThoseThatDoNotOnceAMinuteTogether() {
    DeletionCosts other = new DeletionCosts("other", connection, nanos::get);
    found(other, 8000, "pod-a", "pod-b");
    pass(300);
    int before = 0;
    for (int minute = 0; minute < 20; minute++) {
      for (int second = 0; second < 60; second += 10) {
        double swing = (minute % 2 == 0 ? 10 : 100) + minute;
        costs.write(Map.of("pod-a", 50.0, "pod-b", swing));
        other.write(Map.of("pod-a", 52.0, "pod-b", 7 * swing));
        pass(10);
      }
      List<String> patches = server.patches();
      assertThat(patches.subList(before, patches.size()).stream().filter("pod-b"::equals))
          .hasSizeLessThanOrEqualTo(1);
      before = patches.size();
    }
    assertThat(server.patches().stream().filter("pod-a"::equals)).hasSize(1);
    assertThat(server.patches().stream().filter("pod-b"::equals)).hasSizeGreaterThan(5);
  }

  @Test
  void whatARouterFindsAtItsStartIsKeptForAMinute() {
    costs.write(Map.of("pod-a", 50.0));
    DeletionCosts next = new DeletionCosts("test", connection, nanos::get);
    found(next, 8000, "pod-a", "pod-b");
    pass(300);
    next.write(Map.of("pod-a", 500.0));
    pass(59);
    next.write(Map.of("pod-a", 500.0));
    assertThat(cost(a)).isEqualTo("50000");
    pass(1);
    next.write(Map.of("pod-a", 500.0));
    assertThat(cost(a)).isEqualTo("500000");
  }

  @Test
  void whatAnotherWritesBetweenLookAndWriteStaysForAMinute() {
    server.afterTry(name -> {
      if (name.equals("pod-a")) {
        annotate(a, "7000");
      }
    });
    List<ILoggingEvent> lines = logged(() -> costs.write(Map.of("pod-a", 1.0, "pod-b", 2.0)));
    assertThat(cost(a)).isEqualTo("7000");
    assertThat(server.patches()).containsExactly("pod-b");
    assertThat(lines).isEmpty();
    server.afterTry(name -> {});
    pass(59);
    costs.write(Map.of("pod-a", 1.0, "pod-b", 2.0));
    assertThat(server.tries()).containsExactly("pod-a", "pod-b");
    for (int minute = 0; minute < 2; minute++) {
      pass(60);
      costs.write(Map.of("pod-a", 1.0, "pod-b", 2.0));
    }
    assertThat(cost(a)).isEqualTo("1000");
  }

  private void annotate(Pod pod, String cost) {
    pod.getMetadata().setAnnotations(Map.of(DeletionCosts.ANNOTATION, cost));
    server.put(pod);
  }

  @Test
  void onlyTheRightToPatchIsNeeded() {
    server.forbidMethod(HttpMethod.GET);
    costs.write(Map.of("pod-a", 1.0, "pod-b", 2.0));
    assertThat(server.patches()).containsExactly("pod-a", "pod-b");
  }

  @Test
  void smallChangesAreWrittenEveryFiveMinutesAndTheSmallestNever() {
    for (int second = 0; second < 1_500; second += 10) {
      costs.write(Map.of("pod-a", 100.0 + second / 10.0, "pod-b", second % 20 / 11.0));
      pass(10);
    }
    assertThat(server.patches().stream().filter(pod -> pod.equals("pod-a"))).hasSize(5);
    assertThat(server.patches().stream().filter(pod -> pod.equals("pod-b"))).hasSize(1);
  }

  @Test
  void aPodOfWhichARankIsNotKnownIsNotTouched() {
    Found ranks = new Found();
    ranks.add(template(), "pod-a-rank-0", "10.1.0.1", 8000, Map.of());
    ranks.add(template(), "pod-a-rank-1", "10.1.0.1", 8001, Map.of());
    costs.found("test", ranks, Map.of("10.1.0.1:8000", "pod-a", "10.1.0.1:8001", "pod-a"));
    costs.write(Map.of("pod-a-rank-0", 1.0));
    assertThat(server.tries()).isEmpty();
    costs.write(Map.of("pod-a-rank-0", 1.0, "pod-a-rank-1", 2.0));
    assertThat(cost(a)).isEqualTo("3000");
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
  void aPodThatFailsKeepsNobodyBackAndIsTriedAgainAfterAMinute() {
    server.failPatches("pod-a", 500);
    for (int second = 0; second <= 60; second += 10) {
      costs.write(Map.of("pod-a", 1.0, "pod-b", 2.0));
      pass(10);
    }
    assertThat(server.tries()).containsExactly("pod-a", "pod-b", "pod-a");
    server.failPatches("", 0);
    pass(60);
    costs.write(Map.of("pod-a", 1.0, "pod-b", 2.0));
    assertThat(server.patches()).containsExactly("pod-b", "pod-a");
  }

  @Test
  void replicasWithoutAPodAreToldOnce() {
    List<ILoggingEvent> lines =
        logged(() -> {
          found(costs, 9000, "pod-a", "pod-b");
          found(costs, 9000, "pod-a", "pod-b");
        });
    assertThat(lines)
        .singleElement()
        .satisfies(line -> {
          assertThat(line.getLevel()).isEqualTo(Level.WARN);
          assertThat(line.getFormattedMessage()).contains("source test", "replica pod-a", "{port}");
        });
  }

  @Test
  void aPodThatIsGoneKeepsNobodyBack() {
    server.delete(a);
    costs.write(Map.of("pod-a", 1.0, "pod-b", 2.0));
    assertThat(server.patches()).containsExactly("pod-b");
    found("pod-a");
    found("pod-a", "pod-b");
    costs.write(Map.of("pod-b", 2.0));
    assertThat(server.patches()).containsExactly("pod-b");
  }

  /** What is logged of deletion costs meanwhile. */
  static List<ILoggingEvent> logged(Runnable meanwhile) {
    ListAppender<ILoggingEvent> lines = new ListAppender<>();
    Logger log = (Logger) LoggerFactory.getLogger(DeletionCosts.class);
    lines.start();
    log.addAppender(lines);
    try {
      meanwhile.run();
    } finally {
      log.detachAppender(lines);
    }
    return List.copyOf(lines.list);
  }

  private void found(String... pods) {
    found(costs, 8000, pods);
  }

  /** At port 8000 there are the pods, while the replicas are said to be at that one. */
  private static void found(DeletionCosts costs, int port, String... pods) {
    Found found = new Found();
    for (String pod : List.of(pods)) {
      found.add(template(), pod, address(pod), port, Map.of());
    }
    costs.found(
        "test",
        found,
        Map.of(address("pod-a") + ":8000", "pod-a", address("pod-b") + ":8000", "pod-b"));
  }

  static ReplicaTemplate template() {
    try {
      return ConfigTree.parse(
              "discovery: [{kind: kubernetes, service: s, deletion-cost: true}]", "f.yaml")
          .config()
          .discovery()
          .get(0)
          .replica();
    } catch (ConfigException e) {
      throw new AssertionError(e);
    }
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
