package dev.warmpath.router.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.util.Map;
import org.junit.jupiter.api.Test;

class EnvironmentKeysTest {

  @Test
  void variablesSetKeysOverTheFile() throws Exception {
    ConfigTree file = ConfigTree.parse("listen: {port: 1}\npolicy: {name: random}", "f.yaml");
    RouterConfig config =
        EnvironmentKeys.over(
                file,
                Map.of(
                    "WARMPATH_LISTEN_PORT", "9",
                    "WARMPATH_POLICY_NAME", "warm",
                    "WARMPATH_POLICY_OPTIONS", "{miss-weight: 0.5}",
                    "WARMPATH_LISTEN_PATHS", "[/more]",
                    "WARMPATH_SNAPSHOT_DIR", "0123",
                    "WARMPATH_RELOAD_WATCH", "true",
                    "WARMPATH_SHUTDOWN_DELAY_MS", "",
                    "HOME", "/home/u"))
            .config();
    assertThat(config.listen().port()).isEqualTo(9);
    assertThat(config.policy().name()).isEqualTo("warm");
    assertThat(config.policy().options()).containsEntry("miss-weight", 0.5);
    assertThat(config.listen().paths()).containsExactly("/more");
    assertThat(config.snapshot().dir()).as("text").isEqualTo("0123");
    assertThat(config.reload().watch()).isTrue();
  }

  @Test
  void aWrongValueNamesItsVariable() {
    ConfigException e =
        catchThrowableOfType(
            ConfigException.class,
            () ->
                EnvironmentKeys.over(ConfigTree.empty(), Map.of("WARMPATH_LISTEN_PORT", "x"))
                    .config());
    assertThat(e.problems())
        .containsExactly("WARMPATH_LISTEN_PORT: 'listen.port' must be a whole number");
  }

  @Test
  void variablesThatSetNothingAreNamed() {
    assertThat(
            EnvironmentKeys.warnings(
                Map.of(
                    "WARMPATH_LISTEN_PROT", "9",
                    "WARMPATH_JAVA_OPTS", "-Xmx1g",
                    "WARMPATH_LOG_LEVEL", "WARN",
                    "WARMPATH_LISTEN_PORT", "8")))
        .containsExactly(
            "ignored: WARMPATH_LISTEN_PROT sets no key; the nearest is WARMPATH_LISTEN_PORT");
  }

  @Test
  void listsAreYaml() throws ConfigException {
    RouterConfig config =
        EnvironmentKeys.over(
                ConfigTree.empty().put("models", Map.of("name", "other"), "test"),
                Map.of(
                    "WARMPATH_MODELS", "[{name: m, tokenizer: embedded}]",
                    "WARMPATH_REPLICAS", "- name: a\n  url: http://127.0.0.1:1\n  models: [m]\n",
                    "WARMPATH_DISCOVERY", "[{\"kind\": \"dns\", \"host\": \"h\", \"port\": 1}]"))
            .config();
    assertThat(config.models()).extracting(ModelConfig::name).containsExactly("m");
    assertThat(config.replicas()).extracting(ReplicaConfig::name).containsExactly("a");
    assertThat(config.discovery()).hasSize(1);
    assertThat(EnvironmentKeys.warnings(Map.of("WARMPATH_REPLICAS", "[]"))).isEmpty();
  }

  @Test
  void aListThatIsNoneNamesItsVariable() {
    assertThatThrownBy(
            () -> EnvironmentKeys.over(ConfigTree.empty(), Map.of("WARMPATH_REPLICAS", "http://a")))
        .hasMessageContaining("WARMPATH_REPLICAS")
        .hasMessageContaining("a list expected");
  }

  @Test
  void everyKeyOutsideListsHasOneVariable() {
    long keys =
        ConfigKey.all(RouterConfig.class).stream()
            .filter(key -> !key.section().contains("[]"))
            .map(key -> key.path().replace('.', '_').replace('-', '_'))
            .distinct()
            .count();
    assertThat(keys)
        .isEqualTo(
            ConfigKey.all(RouterConfig.class).stream()
                .filter(key -> !key.section().contains("[]"))
                .count());
  }
}
