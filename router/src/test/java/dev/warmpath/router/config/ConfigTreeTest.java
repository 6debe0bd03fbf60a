package dev.warmpath.router.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.assertj.core.api.Assertions.entry;

import dev.warmpath.eventingest.follow.IngestOptions;
import dev.warmpath.eventingest.follow.IngestOptions.BackoffLimits;
import dev.warmpath.eventingest.follow.IngestOptions.RingLimits;
import dev.warmpath.eventingest.hashing.EventFormat;
import dev.warmpath.eventingest.hashing.SglangNamespaces;
import dev.warmpath.eventingest.hashing.SglangRules;
import dev.warmpath.eventingest.stream.StreamLimits;
import dev.warmpath.eventingest.transport.ReplayLimits;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.router.config.ConfigChanges.ConfigChange;
import dev.warmpath.router.routing.Policies;
import dev.warmpath.router.security.ApiKeys;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConfigTreeTest {

  @Test
  void defaultsAreThoseOfTheKeys() throws ConfigException {
    RouterConfig config = ConfigTree.empty().config();
    RouterConfig.ListenTls none = new RouterConfig.ListenTls(null, null, null);
    assertThat(config.listen())
        .isEqualTo(
            new RouterConfig.Listen(
                "127.0.0.1", 8080, 0, false, false, List.of(), List.of(), none));
    assertThat(config.admin())
        .isEqualTo(
            new RouterConfig.Admin("127.0.0.1", 8081, null, false, null, 1000, 0, false, none));
    assertThat(config.policy().name()).isEqualTo("warm");
    assertThat(config.replicas()).isEmpty();
    assertThat(config.ingest().options(MemoryBudget.of(config, 64L << 30)))
        .as("with much heap")
        .isEqualTo(IngestOptions.DEFAULT);
  }

  @Test
  void everyBoundOfTheEventStreamsIsSetByItsKey() throws ConfigException {
    RouterConfig config =
        read(
            """
            ingest:
              {pollers: 1, ring-messages: 2, ring-bytes: 1048583, ring-total-mb: 4,
               buffered-bytes: 1061, replay-idle-ms: 18, replay-total-ms: 109}
            """);
    assertThat(config.ingest().options(MemoryBudget.of(config)))
        .isEqualTo(
            new IngestOptions(
                1,
                new RingLimits(2, 1048583, 4 << 20),
                ReplayLimits.DEFAULT.with(Duration.ofMillis(18), Duration.ofMillis(109)),
                BackoffLimits.DEFAULT,
                StreamLimits.DEFAULT.with(1061)));
  }

  private static final SglangRules SGLANG =
      new SglangRules(SglangNamespaces.of(EventFormat.DYNAMO, Map.of("fr", "lora/fr")), 0);

  @Test
  void readsReplicasAndModels() throws ConfigException {
    RouterConfig config =
        read(
            """
            models:
              - {name: qwen, tokenizer: embedded}
            replicas:
              - name: a
                url: http://127.0.0.1:8000
                events: tcp://127.0.0.1:5557
                dialect: sglang
                removals: per-copy
                max-blocks: 4096
                hash-seed: "17"
                event-format: dynamo
                loras: [fr=lora/fr]
                load-back-tokens: 0
                models: [qwen]
              - name: b
                url: http://127.0.0.1:8001/
                replay:
            """);
    assertThat(config.onlyModel()).isEqualTo("qwen");
    assertThat(config.models()).containsExactly(new ModelConfig("qwen", "embedded"));
    assertThat(config.replicas().get(0).dialect()).isEqualTo(ReplicaConfig.Dialect.SGLANG);
    assertThat(config.replicas().get(0).models()).containsExactly("qwen");
    assertThat(config.replicas().get(0))
        .extracting(
            ReplicaConfig::removals,
            ReplicaConfig::maxBlocks,
            ReplicaConfig::hashSeed,
            ReplicaConfig::sglang)
        .containsExactly(CopyCounting.PER_COPY, 4096, "17", SGLANG);
    assertThat(config.replicas().get(1))
        .extracting(
            ReplicaConfig::removals,
            ReplicaConfig::maxBlocks,
            ReplicaConfig::hashSeed,
            ReplicaConfig::sglang)
        .containsExactly(null, 0, null, SglangRules.USUAL);
    assertThat(config.replicas().get(1).events()).isNull();
  }

  @Test
  void readsHowAModelsEnginesWereStarted() throws ConfigException {
    RouterConfig config =
        read(
            """
            models:
              - name: qwen
                tokenizer: embedded
                chat-template: /t.jinja
                chat-template-kwargs: '{"enable_thinking": false}'
                reasoning-effort-map: '{"medium": "low"}'
                content-format: openai
                exclude-tools-when-none: true
                trust-request-template: true
                time-zone: Asia/Tokyo
                start-date: 2026-03-14
                harmony-system-instructions: true
                max-model-len: 4096
            tokenizing: {wait-for-models: false}
            """);
    assertThat(config.models().get(0).rendering())
        .isEqualTo(
            new ModelConfig.Rendering(
                "/t.jinja",
                "{\"enable_thinking\": false}",
                "{\"medium\": \"low\"}",
                "openai",
                true,
                true,
                "Asia/Tokyo",
                "2026-03-14",
                true,
                4096));
    assertThat(config.tokenizing().waitForModels()).isFalse();
    assertThat(problems("models:\n  - {name: m, tokenizer: embedded, time-zone: Mars}"))
        .singleElement()
        .asString()
        .contains("f.yaml:2: models[]: 'time-zone' is unknown");
  }

  @Test
  void unknownKeyNamesFileLineAndNearestKey() {
    assertThat(problems("listen:\n  port: 1\n  prot: 2\n"))
        .containsExactly("f.yaml:3: unknown key 'listen.prot'; did you mean 'listen.port'?");
    assertThat(problems("replicas:\n  - name: a\n    url: http://h:1\n    event: x\n"))
        .containsExactly(
            "f.yaml:4: unknown key 'replicas[].event'; did you mean 'replicas[].events'?");
    assertThat(problems("replica: []\n"))
        .containsExactly("f.yaml:1: unknown key 'replica'; did you mean 'replicas'?");
  }

  @Test
  void wrongTypesAndBoundsNameFileLineAndKey() {
    assertThat(problems("listen: {port: 70000}\nretry:\n  attempts: many\nheaders: {replica: 1}"))
        .containsExactly(
            "f.yaml:1: 'listen.port' must be a number in 0 … 65535",
            "f.yaml:3: 'retry.attempts' must be a whole number",
            "f.yaml:4: 'headers.replica' must be true or false");
    assertThat(problems("policy:\n  name: fastest"))
        .singleElement()
        .asString()
        .startsWith("f.yaml:2: 'policy.name' must be one of aibrix,");
    assertThat(problems("policy: warm"))
        .containsExactly("f.yaml:1: 'policy' must hold keys and values");
    assertThat(problems("models: {}")).containsExactly("f.yaml:1: 'models' must be a list");
    assertThat(problems("policy: {options: {miss-weight: .nan}}")).hasSize(1);
    assertThat(problems("replicas:\n  - {name: a, url: 'a b', dialect: vlm, loras: [1]}"))
        .satisfiesExactly(
            url -> assertThat(url).isEqualTo("f.yaml:2: 'replicas[].url' must be a URL"),
            dialect ->
                assertThat(dialect)
                    .endsWith(
                        "'replicas[].dialect' must be one of vllm, vllm-eagle, sglang,"
                            + " sglang-hybrid, trtllm, trtllm-hybrid"),
            loras -> assertThat(loras).endsWith("'replicas[].loras' must be a list of text"));
    assertThat(problems("listen: {port: 99999999999999999999}")).hasSize(1);
  }

  @Test
  void whatARecordRejectsNamesItsLine() {
    assertThat(problems("replicas:\n  - name: a\n    url: ftp://h"))
        .singleElement()
        .asString()
        .startsWith("f.yaml:2: replicas[]: 'url' must be http://host:port");
    assertThat(problems("replicas:\n  - name: a"))
        .containsExactly("f.yaml:2: 'replicas[].url' is missing");
    assertThat(
            problems(
                "replicas:\n  - {name: a, url: 'http://h:1'}\n  - {name: a, url: 'http://h:2'}"))
        .singleElement()
        .asString()
        .contains("'replicas': name 'a' is given twice");
    assertThat(problems("replicas:\n  - {name: a, url: 'http://h:1', replay: 'tcp://h:2'}"))
        .singleElement()
        .asString()
        .contains("need 'events'");
  }

  @Test
  void readsWhereReplicasAreFound() throws ConfigException {
    List<DiscoveryConfig> sources =
        read("""
        discovery:
          - {kind: file, file: /etc/replicas.yaml, interval-ms: 500}
          - kind: dns
            source: fleet-b
            host: vllm-headless
            port: 8000
            replica:
              events: tcp://{host}:5557
          - {kind: kubernetes, service: vllm, port-name: http}
          - {kind: inference-pool, pool: llm, namespace: prod}
        """)
            .discovery();
    assertThat(sources)
        .extracting(DiscoveryConfig::name)
        .containsExactly("file", "fleet-b", "kubernetes", "inference-pool");
    assertThat(sources)
        .extracting(DiscoveryConfig::interval)
        .containsExactly(500L, 5_000L, 30_000L, 30_000L);
    assertThat(sources.get(0).replica()).isEqualTo(ReplicaTemplate.DEFAULT);
    assertThat(sources.get(1).replica()).isNotEqualTo(ReplicaTemplate.DEFAULT);
  }

  @Test
  void aSourceThatCannotWorkNamesItsLineAndWhy() {
    Map<String, String> wrong =
        Map.ofEntries(
            Map.entry("kind: file", "kind file needs 'file'"),
            Map.entry("kind: file, file: f, host: h", "'host' needs kind dns"),
            Map.entry("kind: dns", "kind dns needs either 'host' or 'srv'"),
            Map.entry("kind: dns, host: h", "kind dns needs 'port' with 'host' only"),
            Map.entry("kind: dns, srv: s, port: 1", "kind dns needs 'port' with 'host' only"),
            Map.entry("kind: dns, srv: s, server: h", "'server' must be ADDRESS:PORT"),
            Map.entry("kind: kubernetes", "kind kubernetes needs 'service' or 'selector'"),
            Map.entry(
                "kind: kubernetes, service: s, port: 1, port-name: p",
                "'port-name' and 'port' exclude each other"),
            Map.entry("kind: inference-pool", "kind inference-pool needs 'pool'"),
            Map.entry("kind: kubernetes, service: s, pool: p", "'pool' needs kind inference-pool"),
            Map.entry(
                "kind: inference-pool, pool: p, port: 1",
                "the ports of kind inference-pool are the pool's: no 'port'"),
            Map.entry(
                "kind: dns, srv: s, namespace: n",
                "'namespace' needs kind kubernetes or inference-pool"),
            Map.entry(
                "kind: file, file: f, interval-ms: 50", "'interval-ms' must be 0 or at least 100"),
            Map.entry("kind: file, file: f, source: admin", "'source' must be lower-case letters"));
    wrong.forEach((keys, problem) ->
        assertThat(problems("discovery:\n  - {" + keys + "}"))
            .singleElement()
            .asString()
            .startsWith("f.yaml:2: discovery[]: " + problem));
    assertThat(problems("discovery:\n  - {kind: file, file: f}\n  - {kind: file, file: g}"))
        .singleElement()
        .asString()
        .contains("'discovery': name 'file' is given twice");
  }

  @Test
  void aTemplateIsTriedWhenItIsRead() {
    String source = "discovery:\n  - kind: dns\n    srv: s\n    replica:\n";
    assertThat(problems(source + "      event: tcp://h:1\n"))
        .containsExactly(
            "f.yaml:5: unknown key 'replicas[].event'; did you mean 'replicas[].events'?");
    assertThat(problems(source + "      url: http://{address}:{port}\n"))
        .containsExactly("f.yaml:5: '{address}' is none of {name}, {host}, {port}");
    assertThat(problems(source + "      dialect: vlm\n      ranks: many\n"))
        .satisfiesExactlyInAnyOrder(
            dialect -> assertThat(dialect).startsWith("f.yaml:5: 'replicas[].dialect' must be one"),
            ranks -> assertThat(ranks).startsWith("f.yaml:6: 'replicas[].ranks' must be a whole"));
    assertThat(problems(source + "      events: '{host}:5557'\n"))
        .singleElement()
        .asString()
        .startsWith("f.yaml:4: replicas[]: 'events' must be a ZMQ endpoint");
    assertThat(problems("discovery:\n  - {kind: dns, srv: s, replica: vllm}"))
        .containsExactly("f.yaml:2: 'discovery[].replica' must hold keys and values");
  }

  @Test
  void whatIsNotYamlNamesItsLine() {
    assertThat(problems("listen:\n  port: [1\n")).singleElement().asString().startsWith("f.yaml:");
    assertThat(problems("a: 1\na: 2")).containsExactly("f.yaml:2: key 'a' is given twice");
    assertThat(problems("- 1")).containsExactly("f.yaml:1: keys and values expected");
    assertThat(problems("a: &a [*a]")).hasSize(1);
  }

  @Test
  void flagsLieOverTheFile() throws ConfigException {
    ConfigTree file = ConfigTree.parse("listen: {port: 1, host: h}", "f.yaml");
    RouterConfig config =
        file.set("listen.port", 0, "--port")
            .setText("policy.options.miss-weight", "0.5", "--set")
            .setText("policy.options.decode-weight", "9", "--set")
            .setText("fleet.allowed-hosts", "[h, '*.i']", "--set")
            .put("replicas", Map.of("name", "a", "url", "http://h:1"), "--replica")
            .put("replicas", Map.of("name", "a", "url", "http://h:2"), "--replica")
            .config();
    assertThat(config.listen().host()).isEqualTo("h");
    assertThat(config.listen().port()).isZero();
    assertThat(config.policy().options())
        .containsOnly(entry("miss-weight", 0.5), entry("decode-weight", 9.0));
    assertThat(config.fleet().allowedHosts()).containsExactly("h", "*.i");
    assertThat(config.replicas()).singleElement().extracting(ReplicaConfig::port).isEqualTo(2);
  }

  @Test
  void everyPolicyIsReadWithItsOptions() throws ConfigException {
    for (String name : Policies.names()) {
      StringBuilder yaml = new StringBuilder("policy:\n  name: " + name + "\n  options:\n");
      Map<String, Double> given = new HashMap<>();
      Policies.options(name).keySet().forEach(option -> given.put(option, 1.0 + 1.0 / 4));
      given.computeIfPresent("cache-threshold", (option, any) -> 0.25);
      given.computeIfPresent("affinity-threshold", (option, any) -> 0.25);
      given.forEach((option, value) -> yaml.append("    " + option + ": " + value + "\n"));
      PolicyConfig policy = read(yaml.toString()).policy();
      assertThat(policy.name()).isEqualTo(name);
      assertThat(policy.options()).isEqualTo(given);
    }
    assertThat(problems("policy: {name: cache-aware, options: {cache-threshold: 1.5}}"))
        .singleElement()
        .asString()
        .endsWith("cache-threshold=1.5, must be from 0 to 1");
    assertThat(problems("policy: {name: sticky, options: {miss-weight: 3}}"))
        .containsExactly(
            "f.yaml:1: policy 'sticky' has no option 'miss-weight', it has stay-factor");
    assertThat(problems("policy: {name: sticky, miss-weight: 3}"))
        .containsExactly(
            "f.yaml:1: unknown key 'policy.miss-weight'; did you mean 'policy.split'?");
  }

  @Test
  void aWrongFlagIsNamed() {
    ConfigTree tree = ConfigTree.empty().set("listen.port", 70_000, "--port");
    ConfigException e = catchThrowableOfType(ConfigException.class, tree::config);
    assertThat(e.problems()).containsExactly("--port: 'listen.port' must be a number in 0 … 65535");
  }

  @Test
  void aSecretMayBeInAFile(@TempDir Path folder) throws Exception {
    Path file = Files.writeString(folder.resolve("seed"), "4711\n");
    String replica = "replicas: [{name: a, url: 'http://h:1', hash-seed-file: '" + file + "'%s}]";
    RouterConfig config = read(replica.formatted(""));
    assertThat(config.replicas().get(0).hashSeed()).isEqualTo("4711");
    assertThat(problems(replica.formatted(", hash-seed: x")))
        .containsExactly(
            "f.yaml:1: 'replicas[].hash-seed' and 'replicas[].hash-seed-file' exclude each other");
    Files.writeString(file, "4712");
    assertThat(ConfigChanges.between(config, read(replica.formatted(""))))
        .extracting(ConfigChange::toString)
        .containsExactly("replicas[a].hash-seed: (secret) → (secret)");
    Files.delete(file);
    assertThat(problems(replica.formatted("")))
        .singleElement()
        .asString()
        .contains("'replicas[].hash-seed-file': " + file + ": no such file");
  }

  @Test
  void aMissingFileIsNamed(@TempDir Path folder) {
    Path file = folder.resolve("none.yaml");
    ConfigException e = catchThrowableOfType(ConfigException.class, () -> ConfigTree.read(file));
    assertThat(e.problems()).containsExactly(file + ": no such file");
  }

  @Test
  void aClusterThatCannotWorkIsRefused() throws ConfigException {
    String mesh = "mode: mesh, secret: 0123456789abcdef";
    assertThat(clusterProblem("mode: mesh, peers: [a]")).contains("needs 'cluster.secret-file'");
    assertThat(clusterProblem("mode: mesh, secret: short, peers: [a]")).contains("at least 16");
    assertThat(clusterProblem(mesh)).contains("needs one of");
    assertThat(clusterProblem(mesh + ", peers: [a], dns: b")).contains("needs one of");
    assertThat(clusterProblem(mesh + ", peers: [a], insecure: true"))
        .contains("exclude each other");
    assertThat(clusterProblem(mesh + ", peers: ['a:0']")).contains("HOST:PORT");
    assertThat(clusterProblem(mesh + ", peers: ['http://a']")).contains("HOST:PORT");
    assertThat(clusterProblem(mesh + ", dns: a, host: 0.0.0.0")).contains("one address");
    assertThat(clusterProblem(mesh + ", dns: a, namespace: n")).contains("'cluster.service'");
    assertThat(clusterProblem(mesh + ", dns: a, redis-url: 'redis://a'")).contains("redis");
    assertThat(clusterProblem("mode: redis")).contains("needs 'cluster.redis-url'");
    assertThat(clusterProblem("mode: redis, redis-url: 'redis://a', peers: [b]")).contains("mesh");
    assertThat(clusterProblem("mode: redis, redis-url: 'http://a'")).contains("redis://HOST");
    assertThat(clusterProblem("mode: redis, redis-url: 'redis-sentinel://a'")).contains("#MASTER");
    assertThat(clusterProblem("mode: redis, redis-url: 'redis://u:hush@a'"))
        .contains("must not hold a password")
        .doesNotContain("hush");
    assertThat(clusterProblem("name: 'two words'")).contains("letters");
    for (String good :
        List.of(
            mesh + ", peers: [a, 'b:1', '[::1]:2', 10.0.0.1]",
            mesh + ", dns: routers.example",
            mesh + ", service: routers, namespace: n",
            "mode: mesh, insecure: true, dns: a",
            "mode: redis, redis-url: 'redis://u@a:1,b:2'",
            "mode: redis, redis-url: 'rediss://a', redis-password: x",
            "mode: redis, redis-url: 'redis-sentinel://a:1,b:2#main'")) {
      assertThat(read("cluster: {" + good + "}").cluster().mode()).isNotNull();
    }
  }

  private static String clusterProblem(String keys) {
    ConfigException e =
        catchThrowableOfType(ConfigException.class, () -> read("cluster: {" + keys + "}"));
    assertThat(e).as(keys).isNotNull();
    return e.problems().toString();
  }

  @Test
  void documentationListsEveryKeyThoseOfOperatorsFirst() throws Exception {
    List<String> rows =
        Files.readAllLines(Path.of("../docs/configuration.md")).stream()
            .filter(line -> line.matches("[|] `[a-z].*|### Advanced"))
            .map(line -> line.startsWith("#") ? line : withoutMeaning(line))
            .toList();
    List<String> expected = new ArrayList<>(rows(false));
    expected.add("### Advanced");
    expected.addAll(rows(true));
    assertThat(rows).isEqualTo(expected);
  }

  @Test
  void documentationListsEveryKeyOfTheFileOfApiKeys() throws Exception {
    List<String> rows =
        Files.readAllLines(Path.of("../docs/security.md")).stream()
            .filter(line -> line.startsWith("| `keys[]."))
            .map(ConfigTreeTest::withoutMeaning)
            .toList();
    assertThat(rows)
        .isEqualTo(
            ConfigKey.all(ApiKeys.ApiKeyFile.class).stream().map(ConfigTreeTest::row).toList());
  }

  @Test
  void aDefaultGivenInWordsIsTheDefault() throws ConfigException {
    ConfigTree tree = ConfigTree.empty();
    for (ConfigKey key : ConfigKey.all(RouterConfig.class)) {
      if (!key.section().endsWith("[]") && !key.defaultValue().isEmpty()) {
        tree = tree.setText(key.path(), key.defaultValue(), key.path());
      }
    }
    assertThat(tree.config()).isEqualTo(ConfigTree.empty().config());
  }

  @Property(tries = 500)
  void anyTextIsReadOrRejected(@ForAll String text) {
    try {
      ConfigTree.parse(text, "f.yaml").config();
    } catch (ConfigException e) {
      assertThat(e.problems()).isNotEmpty().allSatisfy(p -> assertThat(p).startsWith("f.yaml"));
    }
  }

  private static List<String> rows(boolean advanced) {
    return ConfigKey.all(RouterConfig.class).stream()
        .filter(key -> key.advanced() == advanced)
        .map(ConfigTreeTest::row)
        .toList();
  }

  /** Its row without its meaning, which only the documentation says. */
  private static String row(ConfigKey key) {
    String standard = key.defaultValue().isEmpty() ? "" : "`" + key.defaultValue() + "`";
    return "| `%s`%s | %s | %s |"
        .formatted(
            key.path(),
            key.reloadable() ? " ↻" : "",
            key.isRequired() ? "required" : standard,
            key.bounds());
  }

  private static String withoutMeaning(String row) {
    String meaning = row.substring(row.lastIndexOf("| ", row.length() - 2));
    assertThat(meaning).as(row).matches("[|] \\S.*[.)] [|]");
    return row.substring(0, row.length() - meaning.length() + 1);
  }

  private static RouterConfig read(String yaml) throws ConfigException {
    return ConfigTree.parse(yaml, "f.yaml").config();
  }

  private static List<String> problems(String yaml) {
    return catchThrowableOfType(ConfigException.class, () -> read(yaml)).problems();
  }
}
