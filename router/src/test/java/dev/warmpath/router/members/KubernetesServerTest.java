package dev.warmpath.router.members;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ch.qos.logback.classic.spi.ILoggingEvent;
import dev.warmpath.router.config.ReplicaConfig;
import dev.warmpath.router.config.ReplicaTemplate;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.rig.Backend;
import dev.warmpath.router.rig.Load;
import dev.warmpath.router.rig.Rig;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.api.model.rbac.RoleBindingBuilder;
import io.fabric8.kubernetes.api.model.rbac.RoleBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.dsl.NonDeletingOperation;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.extension.TestWatcher;

/**
 * The scenarios against the API server of a kubeconfig, each in a namespace of its own, with the
 * role that the documentation asks for. {@code .ci/kubernetes} runs it.
 */
@EnabledIfSystemProperty(named = KubernetesServerTest.KUBECONFIG, matches = ".+")
class KubernetesServerTest extends InferencePoolScenarios {

  static final String KUBECONFIG = "warmpath.kubeconfig";

  /** Whether the definitions of inference pools are created where they are missing. */
  static final String CREATE_CRDS = "warmpath.kubeconfig.crds";

  private static final String CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

  private static final String ACCOUNT = "warmpath";
  private static final int ROUNDS = 10;
  private static final int PODS = 3;
  private static final String FINALIZER = "warmpath.dev/check";

  @RegisterExtension
  static final TestWatcher PRINTER =
      new TestWatcher() {
        @Override
        public void testSuccessful(ExtensionContext test) {
          System.out.println("checked: " + test.getDisplayName());
        }
      };

  private final Config admin = Config.fromKubeconfig(new File(System.getProperty(KUBECONFIG)));
  private final KubernetesClient objects = new KubernetesClientBuilder().withConfig(admin).build();
  private final String namespace = "warmpath-check-" + System.nanoTime();
  private final Relay relay = new Relay(null);
  private final List<Backend> engines = new ArrayList<>();
  private Config account;

  @BeforeEach
  void makeNamespace(TestInfo test) throws IOException {
    objects
        .resource(
            new NamespaceBuilder().withNewMetadata().withName(namespace).endMetadata().build())
        .create();
    objects
        .serviceAccounts()
        .inNamespace(namespace)
        .resource(
            new ServiceAccountBuilder().withNewMetadata().withName(ACCOUNT).endMetadata().build())
        .create();
    bind("warmpath");
    account =
        new ConfigBuilder(Config.empty())
            .withMasterUrl(admin.getMasterUrl())
            .withTrustCerts(admin.isTrustCerts())
            .withCaCertData(admin.getCaCertData())
            .withCaCertFile(admin.getCaCertFile())
            .withOauthToken(token())
            .build();
    Class<?> scenarios = test.getTestMethod().orElseThrow().getDeclaringClass();
    if (scenarios == InferencePoolScenarios.class) {
      needDefinitions();
    }
  }

  /**
   * Sees to it that the server has the kinds of the extension, and the account their role. Where
   * they are missing and may not be created, the test is left out.
   */
  private void needDefinitions() {
    try (InputStream file = getClass().getResourceAsStream("/inference-crds.yaml")) {
      String all = new String(file.readAllBytes(), StandardCharsets.UTF_8);
      for (String document : all.split("(?m)^---$")) {
        GenericKubernetesResource crd =
            Serialization.unmarshal(document, GenericKubernetesResource.class);
        String path = CRDS + "/" + crd.getMetadata().getName();
        if (Boolean.getBoolean(CREATE_CRDS) && objects.raw(path) == null) {
          objects.raw(CRDS, "POST", crd);
        }
        assumeTrue(objects.raw(path) != null, crd.getMetadata().getName() + " is not installed");
        Rig.until(() -> objects.raw(served(crd)) != null);
      }
      bind("warmpath-pool");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String served(GenericKubernetesResource crd) {
    String plural = crd.get("spec", "names", "plural");
    String version = crd.get("spec", "versions", 0, "name");
    return "/apis/%s/%s/%s".formatted(crd.<String>get("spec", "group"), version, plural);
  }

  @Override
  void putStatus(Pod pod) {
    objects.pods().inNamespace(namespace).resource(pod).patchStatus();
  }

  /** A pod with a finalizer stays until that is gone. */
  @Override
  void terminate(Pod pod) {
    var there = objects.pods().inNamespace(namespace).withName(pod.getMetadata().getName());
    there.edit(
        now -> new PodBuilder(now).editMetadata().addToFinalizers(FINALIZER).endMetadata().build());
    there.delete();
  }

  private String token() {
    String path = "/api/v1/namespaces/" + namespace + "/serviceaccounts/" + ACCOUNT + "/token";
    Map<String, Object> request =
        Map.of("apiVersion", "authentication.k8s.io/v1", "kind", "TokenRequest", "spec", Map.of());
    Map<?, ?> answer = Serialization.unmarshal(objects.raw(path, "POST", request), Map.class);
    return (String) ((Map<?, ?>) answer.get("status")).get("token");
  }

  /** Gives the account a role of the documentation, and no other one. */
  private void bind(String name) throws IOException {
    Role role = documentedRole(name);
    objects.rbac().roles().inNamespace(namespace).resource(role).create();
    objects.rbac().roleBindings().inNamespace(namespace).delete();
    objects
        .rbac()
        .roleBindings()
        .inNamespace(namespace)
        .resource(
            new RoleBindingBuilder()
                .withNewMetadata()
                .withName(ACCOUNT)
                .endMetadata()
                .addNewSubject("", "ServiceAccount", ACCOUNT, namespace)
                .withNewRoleRef("rbac.authorization.k8s.io", "Role", role.getMetadata().getName())
                .build())
        .create();
  }

  /** Adds the documented rule for deletion costs to the account's role. */
  private void allowDeletionCosts() throws IOException {
    String page = Files.readString(Path.of("../docs/discovery.md"));
    PolicyRule rule =
        Stream.of(page.split("```"))
            .filter(block -> block.contains("verbs: [patch]"))
            .map(block -> Serialization.unmarshal("rules:" + block, Role.class).getRules().get(0))
            .findFirst()
            .orElseThrow();
    objects
        .rbac()
        .roles()
        .inNamespace(namespace)
        .withName(ACCOUNT)
        .edit(role -> new RoleBuilder(role).addToRules(rule).build());
    Map<String, Object> review =
        Map.of(
            "apiVersion",
            "authorization.k8s.io/v1",
            "kind",
            "SelfSubjectAccessReview",
            "spec",
            Map.of(
                "resourceAttributes",
                Map.of("namespace", namespace, "verb", "patch", "resource", "pods")));
    try (KubernetesClient client = new KubernetesClientBuilder().withConfig(account).build()) {
      String path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
      Rig.until(() -> client.raw(path, "POST", review).contains("\"allowed\":true"));
    }
  }

  private static Role documentedRole(String name) throws IOException {
    String page = Files.readString(Path.of("../docs/discovery.md"));
    return Stream.of(page.split("```"))
        .filter(block -> block.contains("kind: Role"))
        .map(block -> Serialization.unmarshal(block.substring("yaml".length()), Role.class))
        .filter(role -> role.getMetadata().getName().equals(name))
        .findFirst()
        .orElseThrow();
  }

  @AfterEach
  void deleteNamespace() {
    closeSource();
    objects
        .pods()
        .inNamespace(namespace)
        .resources()
        .forEach(pod -> {
          if (pod.get() != null && !pod.get().getMetadata().getFinalizers().isEmpty()) {
            pod.edit(now ->
                new PodBuilder(now).editMetadata().withFinalizers(List.of()).endMetadata().build());
          }
        });
    objects.namespaces().withName(namespace).delete();
    objects.close();
    relay.close();
  }

  @Override
  String put(HasMetadata object) {
    return objects.resource(object).createOr(NonDeletingOperation::update).getMetadata().getUid();
  }

  @Override
  void delete(HasMetadata object) {
    objects.resource(object).delete();
  }

  @Override
  Config credentials() {
    return new ConfigBuilder(account).withHttpsProxy("http://127.0.0.1:" + relay.port()).build();
  }

  @Override
  Relay relay() {
    return relay;
  }

  @Override
  String namespace() {
    return namespace;
  }

  @Test
  @DisplayName("an account without the role is told what is forbidden")
  void aMissingRoleIsNamed() {
    objects.rbac().roleBindings().inNamespace(namespace).withName(ACCOUNT).delete();
    start();
    Rig.until(() -> source().problem() != null);
    assertThat(source().problem()).contains("endpointslices", "is forbidden", "(403)");
    assertThat(source().status().replicas()).isZero();
  }

  @Test
  @DisplayName("a router's replicas come and go with the Service's endpoints, and no request fails")
  void aRouterFollowsTheService() {
    System.setProperty("kubeconfig", System.getProperty(KUBECONFIG));
    Map<String, Object> service =
        Map.of(
            "kind",
            "kubernetes",
            "namespace",
            namespace,
            "service",
            "vllm",
            "replica",
            Map.of("url", "http://127.0.0.1:{port}"));
    try (Rig rig = new Rig(0, tree -> tree.put("discovery", service, "test"))) {
      for (int i = 0; i < 3; i++) {
        Backend engine = new Backend(rig.vertx());
        engines.add(engine);
        pod("pod-" + i, Map.of());
      }
      appear(rig, 0, "pod-0");
      Load load = new Load(rig, 2, "{\"model\":\"m\"}");
      try (load) {
        appear(rig, 1, "pod-0", "pod-1");
        appear(rig, 2, "pod-0", "pod-1", "pod-2");
        leave(rig, 0, "pod-1", "pod-2");
        leave(rig, 2, "pod-1");
        long before = load.answered();
        Rig.until(() -> load.answered() > before + 10);
      }
      assertThat(load.failures()).isEmpty();
      assertThat(engines).allSatisfy(engine -> assertThat(engine.bodies).isNotEmpty());
    } finally {
      System.clearProperty("kubeconfig");
    }
  }

  private void appear(Rig rig, int pod, String... names) {
    setEndpoint(pod, true);
    long millis = untilServed(rig, names);
    System.out.println("pod-" + pod + " is ready; it gets requests after " + millis + " ms");
  }

  private void leave(Rig rig, int pod, String... names) {
    setEndpoint(pod, false);
    long millis = untilServed(rig, names);
    System.out.println("pod-" + pod + " is terminating; it has left after " + millis + " ms");
  }

  /** An engine that takes requests, or is terminating. */
  private void setEndpoint(int pod, boolean isReady) {
    create(
        slice("s" + pod, port("http", engines.get(pod).port()))
            .withEndpoints(
                endpoint("pod-" + pod, "10.1.0." + (pod + 1), isReady, !isReady).build()));
  }

  private static long untilServed(Rig rig, String... names) {
    long begin = System.nanoTime();
    Rig.until(() ->
        rig.router.fleet().replicas().stream()
            .filter(replica -> replica.health() == Replica.Health.UP)
            .map(Replica::name)
            .toList()
            .equals(List.of(names)));
    return (System.nanoTime() - begin) / 1_000_000;
  }

  @Test
  @DisplayName("without the right to patch pods that is told once, and asked for every ten minutes")
  void deletionCostsNeedTheRight() throws IOException {
    pod("pod-0", Map.of());
    AtomicLong nanos = new AtomicLong();
    try (KubernetesConnection connection = new KubernetesConnection(this::credentials);
        DeletionCosts costs = deletionCosts(connection, nanos, "pod-0")) {
      List<ILoggingEvent> lines =
          DeletionCostsTest.logged(() -> {
            for (int second = 0; second <= 1_500; second += 10) {
              costs.write(Map.of("pod-0", 1.0 + second));
              nanos.addAndGet(TimeUnit.SECONDS.toNanos(10));
            }
          });
      assertThat(lines)
          .singleElement()
          .satisfies(line ->
              assertThat(line.getFormattedMessage())
                  .contains("pod-0", "cannot patch resource", "(403)"));
      allowDeletionCosts();
      for (int second = 0; second < 590; second += 10) {
        costs.write(Map.of("pod-0", 1.0));
        nanos.addAndGet(TimeUnit.SECONDS.toNanos(10));
      }
      assertThat(annotations("pod-0")).as("not asked for since").isEmpty();
      costs.write(Map.of("pod-0", 1.0));
      assertThat(annotations("pod-0")).containsEntry(DeletionCosts.ANNOTATION, "1000");
    }
  }

  /** Of a router that has found these pods. */
  private DeletionCosts deletionCosts(
      KubernetesConnection connection, AtomicLong nanos, String... pods) {
    DeletionCosts costs = new DeletionCosts("test", connection, nanos::get);
    Found found = new Found();
    Map<String, String> podByAddress = new HashMap<>();
    for (String pod : pods) {
      String host = "10.1.0." + podByAddress.size();
      found.add(DeletionCostsTest.template(), pod, host, 8000, Map.of());
      podByAddress.put(ReplicaTemplate.address(host, 8000), pod);
    }
    costs.found(namespace, found, podByAddress);
    return costs;
  }

  @Test
  @DisplayName("what the replicas of a Service are worth is written to their pods")
  void deletionCostsAreWritten() throws IOException {
    allowDeletionCosts();
    for (int i = 0; i < PODS; i++) {
      pod("pod-" + i, Map.of("theirs", "stays"));
      create(
          slice("s" + i, port("http", 8000))
              .withEndpoints(endpoint("pod-" + i, "10.1.0." + (i + 1), true, false).build()));
    }
    AtomicLong nanos = new AtomicLong();
    start(
        "kubernetes",
        "service: vllm, deletion-cost: true",
        DAY,
        (config, connection) -> new KubernetesLook(config, connection, nanos::get));
    until(replicas -> replicas.size() == PODS);
    nanos.addAndGet(TimeUnit.MINUTES.toNanos(5));
    source().worth(Map.of("pod-0", 1.5, "pod-1", 20.0));
    Rig.until(() -> annotations("pod-1").containsKey(DeletionCosts.ANNOTATION));
    assertThat(annotations("pod-0"))
        .containsOnly(Map.entry("theirs", "stays"), Map.entry(DeletionCosts.ANNOTATION, "1500"));
    assertThat(annotations("pod-1")).containsEntry(DeletionCosts.ANNOTATION, "20000");
    assertThat(annotations("pod-2")).as("not known").doesNotContainKey(DeletionCosts.ANNOTATION);
  }

  @Test
  @DisplayName("a pod's deletion cost is written once a minute at most, by two routers together")
  void deletionCostsAreWrittenSeldom() throws IOException {
    allowDeletionCosts();
    pod("pod-0", Map.of());
    AtomicLong nanos = new AtomicLong();
    int writes = 0;
    try (KubernetesConnection connection = new KubernetesConnection(this::credentials);
        DeletionCosts one = deletionCosts(connection, nanos, "pod-0");
        DeletionCosts other = deletionCosts(connection, nanos, "pod-0")) {
      nanos.addAndGet(TimeUnit.MINUTES.toNanos(5));
      Random random = new Random(1);
      for (int minute = 0; minute < 30; minute++) {
        int written = 0;
        for (int second = 0; second < 60; second += 10) {
          for (DeletionCosts router : List.of(one, other)) {
            String before = version("pod-0");
            router.write(Map.of("pod-0", 1_000 * random.nextDouble()));
            written += version("pod-0").equals(before) ? 0 : 1;
          }
          nanos.addAndGet(TimeUnit.SECONDS.toNanos(10));
        }
        assertThat(written).isLessThanOrEqualTo(1);
        writes += written;
      }
    }
    assertThat(writes).isGreaterThan(10);
    System.out.println("deletion cost: " + writes + " writes in 30 minutes of constant change");
  }

  private Map<String, String> annotations(String pod) {
    Map<String, String> all =
        objects.pods().inNamespace(namespace).withName(pod).get().getMetadata().getAnnotations();
    return all == null ? Map.of() : all;
  }

  private String version(String pod) {
    return objects
        .pods()
        .inNamespace(namespace)
        .withName(pod)
        .get()
        .getMetadata()
        .getResourceVersion();
  }

  @Test
  @DisplayName("a router's replicas come and go with a pool and its pods, and how soon")
  void aRouterFollowsThePool() {
    needDefinitions();
    System.setProperty("kubeconfig", System.getProperty(KUBECONFIG));
    Map<String, Object> source =
        Map.of(
            "kind",
            "inference-pool",
            "namespace",
            namespace,
            "pool",
            "llm",
            "replica",
            Map.of("url", "http://127.0.0.1:{port}"));
    try (Rig rig = new Rig(0, tree -> tree.put("discovery", source, "test"))) {
      int port = enginePort(rig);
      int other = enginePort(rig);
      Pod a = readyPod("pod-a", "10.1.0.1", Map.of());
      measure("the pool is created", rig, () -> put(poolAt(port)), serves("pod-a", port));
      for (int i = 0; i < ROUNDS; i++) {
        int next = i % 2 == 0 ? other : port;
        measure("the port changed", rig, () -> put(poolAt(next)), serves("pod-a", next));
        measure("a pod is not ready", rig, () -> setReady(a, false), List::isEmpty);
        measure("a pod is ready", rig, () -> setReady(a, true), serves("pod-a", next));
      }
      measure("a pod is terminating", rig, () -> terminate(a), List::isEmpty);
      Pod b = readyPod("pod-b", "10.1.0.2", Map.of());
      Rig.until(() -> served(rig).size() == 1);
      measure("a pod is deleted", rig, () -> delete(b), List::isEmpty);
      Runnable create = () -> readyPod("pod-c", "10.1.0.3", Map.of());
      measure("a pod is created", rig, create, found -> found.size() == 1);
      measure("the pool is deleted", rig, () -> delete(poolAt(port)), List::isEmpty);
    } finally {
      System.clearProperty("kubeconfig");
    }
  }

  private int enginePort(Rig rig) {
    Backend engine = new Backend(rig.vertx());
    engines.add(engine);
    return engine.port();
  }

  private GenericKubernetesResource poolAt(int port) {
    return pool(List.of(port), "app", "engines");
  }

  private static Predicate<List<ReplicaConfig>> serves(String name, int port) {
    return found ->
        found.size() == 1 && found.get(0).name().equals(name) && found.get(0).port() == port;
  }

  private static List<ReplicaConfig> served(Rig rig) {
    return rig.router.fleet().replicas().stream()
        .filter(replica -> replica.health() == Replica.Health.UP)
        .flatMap(replica -> rig.router.membership().config(replica).stream())
        .toList();
  }

  private static void measure(
      String what, Rig rig, Runnable change, Predicate<List<ReplicaConfig>> followed) {
    change.run();
    long begin = System.nanoTime();
    Rig.until(() -> followed.test(served(rig)));
    long millis = (System.nanoTime() - begin) / 1_000_000;
    System.out.println("pool: " + what + "; followed after " + millis + " ms");
  }
}
