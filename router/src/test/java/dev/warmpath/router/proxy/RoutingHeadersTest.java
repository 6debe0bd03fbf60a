package dev.warmpath.router.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.config.ConfigException;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.config.FileWatch;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.dispatch.RoutingHints;
import dev.warmpath.router.prompt.InferenceRules;
import dev.warmpath.router.security.ApiKeys;
import dev.warmpath.router.security.ClientAccount;
import dev.warmpath.router.security.Secrets;
import io.vertx.core.MultiMap;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RoutingHeadersTest {

  @TempDir private Path folder;

  private final RouterConfig config = config();
  private final InferenceRules rules = new InferenceRules(new Random(1));

  private static RouterConfig config() {
    try {
      return ConfigTree.empty().set("queue.priority-header", "x-priority", "test").config();
    } catch (ConfigException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void aClientMayLowerThePriorityOfItsKeyAndNotRaiseIt() throws IOException {
    ClientAccount client = client();
    assertThat(RoutingHeaders.of(config, rules, headers(null), client).priority()).isEqualTo(-5);
    assertThat(RoutingHeaders.of(config, rules, headers("-9"), client).priority()).isEqualTo(-5);
    assertThat(RoutingHeaders.of(config, rules, headers("3"), client).priority()).isEqualTo(3);
    assertThat(RoutingHeaders.of(config, rules, headers("x"), client).priority()).isEqualTo(-5);
    assertThat(RoutingHeaders.of(config, rules, headers("-9"), null).priority()).isEqualTo(-9);
  }

  @Test
  void clientsTakeTurnsByTheNamesOfTheirKeys() throws IOException {
    RoutingHints hints =
        RoutingHeaders.of(config, rules, headers("0").add("authorization", "Bearer k2"), client());
    assertThat(hints.client()).isEqualTo("a");
    assertThat(
            RoutingHeaders.of(config, rules, headers("0").add("authorization", "x"), null).client())
        .isEqualTo("x");
  }

  @Test
  void anObjectiveGivesItsPriorityTheHigherTheEarlier() throws IOException {
    MultiMap chat = headers(null).add("x-gateway-inference-objective", "chat");
    assertThat(hints(chat, null).priority()).as("no pool").isZero();
    rules.set("pool", new InferenceRules.Rules(Map.of("chat", 10, "batch", -3), List.of()));
    assertThat(hints(chat, null).priority()).isEqualTo(-10);
    MultiMap both = chat.add("x-llm-d-inference-objective", "batch");
    assertThat(hints(both, null).priority()).isEqualTo(3);
    MultiMap unknown = headers(null).add("x-llm-d-inference-objective", "other");
    assertThat(hints(unknown, null).priority()).isZero();
    assertThat(hints(chat, client()).priority()).as("no better than its key").isEqualTo(3);
    MultiMap told = headers("7").add("x-llm-d-inference-objective", "chat");
    assertThat(hints(told, null).priority()).as("the configured header first").isEqualTo(7);
  }

  @Test
  void aFairnessIdTellsClientsApartWhereThereIsAPool() throws IOException {
    MultiMap headers =
        headers(null).add("authorization", "x").add("x-llm-d-inference-fairness-id", "tenant");
    assertThat(hints(headers, null).client()).isEqualTo("x");
    rules.set("pool", InferenceRules.Rules.NONE);
    assertThat(hints(headers, null).client()).isEqualTo("tenant");
    assertThat(hints(headers, client()).client()).isEqualTo("a");
  }

  private RoutingHints hints(MultiMap headers, ClientAccount client) {
    return RoutingHeaders.of(config, rules, headers, client);
  }

  private static MultiMap headers(String priority) {
    MultiMap headers = MultiMap.caseInsensitiveMultiMap();
    return priority == null ? headers : headers.add("x-priority", priority);
  }

  private ClientAccount client() throws IOException {
    Path file = folder.resolve("keys.yaml");
    Files.writeString(file, "keys: [{name: a, sha256: [" + Secrets.hash("k") + "], priority: -5}]");
    try (FileWatch watch = new FileWatch(60_000)) {
      return Objects.requireNonNull(ApiKeys.begin(file, watch, () -> 0).find("k"));
    }
  }
}
