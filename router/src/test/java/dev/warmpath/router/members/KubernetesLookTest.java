package dev.warmpath.router.members;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.rig.Rig;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.vertx.core.net.SocketAddress;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The scenarios, and those that a real API server cannot be made to do. */
class KubernetesLookTest extends KubernetesScenarios {

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
}
