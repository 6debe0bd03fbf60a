package dev.warmpath.router.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.auth.ApiKeys;
import dev.warmpath.router.auth.Client;
import dev.warmpath.router.auth.Secrets;
import dev.warmpath.router.config.ConfigException;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.fleet.dispatch.RoutingHints;
import dev.warmpath.router.watch.FileWatch;
import io.vertx.core.MultiMap;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RoutingHeadersTest {

  @TempDir private Path folder;

  private final RouterConfig config = config();

  private static RouterConfig config() {
    try {
      return ConfigTree.empty().set("queue.priority-header", "x-priority", "test").config();
    } catch (ConfigException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void aClientMayLowerThePriorityOfItsKeyAndNotRaiseIt() throws IOException {
    Client client = client();
    assertThat(RoutingHeaders.of(config, headers(null), client).priority()).isEqualTo(-5);
    assertThat(RoutingHeaders.of(config, headers("-9"), client).priority()).isEqualTo(-5);
    assertThat(RoutingHeaders.of(config, headers("3"), client).priority()).isEqualTo(3);
    assertThat(RoutingHeaders.of(config, headers("x"), client).priority()).isEqualTo(-5);
    assertThat(RoutingHeaders.of(config, headers("-9"), null).priority()).isEqualTo(-9);
  }

  @Test
  void clientsTakeTurnsByTheNamesOfTheirKeys() throws IOException {
    RoutingHints hints =
        RoutingHeaders.of(config, headers("0").add("authorization", "Bearer k2"), client());
    assertThat(hints.client()).isEqualTo("a");
    assertThat(RoutingHeaders.of(config, headers("0").add("authorization", "x"), null).client())
        .isEqualTo("x");
  }

  private static MultiMap headers(String priority) {
    MultiMap headers = MultiMap.caseInsensitiveMultiMap();
    return priority == null ? headers : headers.add("x-priority", priority);
  }

  private Client client() throws IOException {
    Path file = folder.resolve("keys.yaml");
    Files.writeString(file, "keys: [{name: a, sha256: [" + Secrets.hash("k") + "], priority: -5}]");
    try (FileWatch watch = new FileWatch(60_000)) {
      return Objects.requireNonNull(ApiKeys.begin(file, watch, () -> 0).find("k"));
    }
  }
}
