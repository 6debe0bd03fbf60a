package dev.warmpath.router.members;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.rig.Backend;
import dev.warmpath.router.rig.Load;
import dev.warmpath.router.rig.Rig;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.api.model.rbac.RoleBindingBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.dsl.NonDeletingOperation;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.extension.TestWatcher;

/**
 * The scenarios against the API server of a kubeconfig, each in a namespace of its own, with the
 * role that the documentation asks for. {@code .ci/kubernetes} runs it.
 */
@EnabledIfSystemProperty(named = KubernetesServerTest.KUBECONFIG, matches = ".+")
class KubernetesServerTest extends KubernetesScenarios {

  static final String KUBECONFIG = "warmpath.kubeconfig";

  private static final String ACCOUNT = "warmpath";

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
  void makeNamespace() throws IOException {
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
    Role role = documentedRole();
    objects.rbac().roles().inNamespace(namespace).resource(role).create();
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
    account =
        new ConfigBuilder(Config.empty())
            .withMasterUrl(admin.getMasterUrl())
            .withTrustCerts(admin.isTrustCerts())
            .withCaCertData(admin.getCaCertData())
            .withCaCertFile(admin.getCaCertFile())
            .withOauthToken(token())
            .build();
  }

  private String token() {
    String path = "/api/v1/namespaces/" + namespace + "/serviceaccounts/" + ACCOUNT + "/token";
    Map<String, Object> request =
        Map.of("apiVersion", "authentication.k8s.io/v1", "kind", "TokenRequest", "spec", Map.of());
    Map<?, ?> answer = Serialization.unmarshal(objects.raw(path, "POST", request), Map.class);
    return (String) ((Map<?, ?>) answer.get("status")).get("token");
  }

  private static Role documentedRole() throws IOException {
    String page = Files.readString(Path.of("../docs/discovery.md"));
    return Stream.of(page.split("```"))
        .filter(block -> block.contains("kind: Role"))
        .map(block -> Serialization.unmarshal(block.substring("yaml".length()), Role.class))
        .findFirst()
        .orElseThrow();
  }

  @AfterEach
  void deleteNamespace() {
    closeSource();
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
}
