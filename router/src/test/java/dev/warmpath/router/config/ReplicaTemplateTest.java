package dev.warmpath.router.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.net.URI;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ReplicaTemplateTest {

  private static ReplicaTemplate template(String keys) throws ConfigException {
    String yaml = "discovery:\n  - kind: dns\n    srv: s\n    replica: {" + keys + "}\n";
    return ConfigTree.parse(yaml, "f.yaml").config().discovery().get(0).replica();
  }

  private static ReplicaConfig replica(ReplicaTemplate template) throws ConfigException {
    return template.replica("pod-0", "10.0.0.1", 8000, Map.of());
  }

  @Test
  void placeholdersAreFilledInAnyKey() throws ConfigException {
    ReplicaConfig replica =
        replica(
            template(
                "name: 'gpu-{name}', url: 'http://{host}:{port}', events: 'tcp://{name}.vllm:5557',"
                    + " ranks: 2, dialect: sglang, models: ['{name}', m]"));
    assertThat(replica.name()).isEqualTo("gpu-pod-0");
    assertThat(replica.url()).isEqualTo(URI.create("http://10.0.0.1:8000"));
    assertThat(replica.events()).isEqualTo("tcp://pod-0.vllm:5557");
    assertThat(replica.ranks()).isEqualTo(2);
    assertThat(replica.dialect()).isEqualTo(ReplicaConfig.Dialect.SGLANG);
    assertThat(replica.models()).containsExactly("pod-0", "m");
  }

  @Test
  void theUsualTemplateHasNameAndUrlOnly() throws ConfigException {
    assertThat(replica(ReplicaTemplate.DEFAULT)).isEqualTo(replica(template("dialect: vllm")));
    assertThat(replica(ReplicaTemplate.DEFAULT).url())
        .isEqualTo(URI.create("http://10.0.0.1:8000"));
    assertThat(replica(ReplicaTemplate.DEFAULT).name()).isEqualTo("pod-0");
  }

  @Test
  void whatAnAddressTellsOfItselfComesFirst() throws ConfigException {
    ReplicaTemplate template = template("events: 'tcp://{host}:5557', dialect: vllm, models: [m]");
    ReplicaConfig replica =
        template.replica(
            "pod-0",
            "10.0.0.1",
            8000,
            Map.of(
                "warmpath.dev/events-port", "6001",
                "warmpath.dev/replay-port", "6101",
                "warmpath.dev/dialect", "sglang",
                "warmpath.dev/ranks", "2",
                "warmpath.dev/models", "a, b"));
    assertThat(replica.events()).isEqualTo("tcp://10.0.0.1:6001");
    assertThat(replica.replay()).isEqualTo("tcp://10.0.0.1:6101");
    assertThat(replica.dialect()).isEqualTo(ReplicaConfig.Dialect.SGLANG);
    assertThat(replica.ranks()).isEqualTo(2);
    assertThat(replica.models()).containsExactly("a", "b");
  }

  /** Or DNS could say which key an engine gets. */
  @ParameterizedTest
  @ValueSource(strings = {"../admin", "..", ".", "a/b", "a\\b", "a\0b", "a b", ""})
  void anAddressLeadsNoPathElsewhere(String name) throws ConfigException {
    ReplicaTemplate template = template("name: x, api-key-file: '/keys/{name}'");
    assertThat(replica(template).upstream().apiKeyFile()).isEqualTo("/keys/pod-0");
    ConfigException e =
        catchThrowableOfType(
            ConfigException.class, () -> template.replica(name, "10.0.0.1", 8000, Map.of()));
    assertThat(e.problems()).containsExactly("10.0.0.1:8000: {name} may not be '" + name + "'");
  }

  @Test
  void anAddressThatMakesNoReplicaNamesItselfAndTheKey() throws ConfigException {
    ReplicaTemplate template = template("events: 'tcp://{host}:5557'");
    ConfigException e =
        catchThrowableOfType(
            ConfigException.class,
            () ->
                template.replica(
                    "pod-0", "10.0.0.1", 8000, Map.of("warmpath.dev/dialect", "other")));
    assertThat(e.problems())
        .singleElement()
        .asString()
        .startsWith("10.0.0.1:8000: 'replicas[].dialect' must be one of vllm,");
  }

  @Test
  void anAnnotationThatMakesNoSenseNamesItselfAndThePod() throws ConfigException {
    for (String value : List.of("many", "0", "65536", "-1", "")) {
      assertThat(problems(Map.of("warmpath.dev/events-port", value)))
          .containsExactly(
              "pod pod-0: 'warmpath.dev/events-port' must be a number from 1: '" + value + "'");
    }
    assertThat(problems(Map.of("warmpath.dev/event-port", "1")))
        .containsExactly("pod pod-0: 'warmpath.dev/event-port' is unknown");
    assertThat(problems(Map.of("other/event-port", "1"))).isEmpty();
  }

  private static List<String> problems(Map<String, String> annotations) {
    try {
      ReplicaTemplate.DEFAULT.replica("pod-0", "10.0.0.1", 8000, annotations);
      return List.of();
    } catch (ConfigException e) {
      return e.problems();
    }
  }

  @Test
  void templatesOfTheSameValuesAreEqualWhereverTheyStand() throws ConfigException {
    assertThat(template("dialect: sglang")).isEqualTo(template("\n      dialect: sglang"));
    assertThat(template("dialect: sglang")).isNotEqualTo(template("dialect: trtllm"));
  }
}
