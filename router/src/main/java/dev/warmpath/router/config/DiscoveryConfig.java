package dev.warmpath.router.config;

import org.jspecify.annotations.Nullable;

/**
 * A source of replicas that come and go while the router runs.
 *
 * <p>Immutable.
 *
 * @param source its name, if it was given one
 * @param replica what makes a replica of a found address
 */
public record DiscoveryConfig(
    @Key(required = true) Kind kind,
    @Key @Nullable String source,
    @Key @Nullable String file,
    @Key @Nullable String host,
    @Key @Nullable String srv,
    @Key(advanced = true) @Nullable String server,
    @Key(defaultValue = "3", min = 1, max = 1000, advanced = true) int emptyLooks,
    @Key @Nullable String namespace,
    @Key @Nullable String service,
    @Key @Nullable String selector,
    @Key @Nullable String portName,
    @Key @Nullable String pool,
    @Key(defaultValue = "0", max = 65_535) int port,
    @Key(defaultValue = "0", max = 86_400_000) int intervalMs,
    @Key(defaultValue = "false") boolean deletionCost,
    @Key ReplicaTemplate replica) {

  /** Where a source looks. */
  public enum Kind {
    FILE(2_000),
    DNS(5_000),
    KUBERNETES(30_000),
    INFERENCE_POOL(30_000);

    private final int usualIntervalMs;

    Kind(int usualIntervalMs) {
      this.usualIntervalMs = usualIntervalMs;
    }
  }

  public DiscoveryConfig {
    check(
        source == null || source.matches("(?!configuration$|admin$)[a-z0-9][a-z0-9-]{0,62}"),
        "'source' must be lower-case letters, digits and '-', and neither 'configuration' nor"
            + " 'admin'");
    check(intervalMs == 0 || intervalMs >= 100, "'interval-ms' must be 0 or at least 100");
    only(kind, Kind.FILE, "file", file);
    only(kind, Kind.DNS, "host", host);
    only(kind, Kind.DNS, "srv", srv);
    only(kind, Kind.DNS, "server", server);
    check(
        kind == Kind.KUBERNETES || kind == Kind.INFERENCE_POOL || namespace == null,
        "'namespace' needs kind kubernetes or inference-pool");
    only(kind, Kind.KUBERNETES, "service", service);
    only(kind, Kind.KUBERNETES, "selector", selector);
    only(kind, Kind.KUBERNETES, "port-name", portName);
    only(kind, Kind.INFERENCE_POOL, "pool", pool);
    check(
        kind == Kind.KUBERNETES || kind == Kind.INFERENCE_POOL || !deletionCost,
        "'deletion-cost' needs kind kubernetes or inference-pool");
    switch (kind) {
      case FILE -> check(file != null, "kind file needs 'file'");
      case DNS -> {
        check((host == null) != (srv == null), "kind dns needs either 'host' or 'srv'");
        check((host == null) == (port == 0), "kind dns needs 'port' with 'host' only");
        check(server == null || server.matches(".+:[0-9]{1,5}"), "'server' must be ADDRESS:PORT");
      }
      case KUBERNETES -> {
        check(service != null || selector != null, "kind kubernetes needs 'service' or 'selector'");
        check(portName == null || port == 0, "'port-name' and 'port' exclude each other");
      }
      case INFERENCE_POOL -> {
        check(pool != null, "kind inference-pool needs 'pool'");
        check(port == 0, "the ports of kind inference-pool are the pool's: no 'port'");
      }
    }
  }

  /** Its name in metrics and logs. */
  public String name() {
    return source == null ? ConfigKey.choice(kind) : source;
  }

  /** Time between two looks, in milliseconds. */
  public long interval() {
    return intervalMs == 0 ? kind.usualIntervalMs : intervalMs;
  }

  private static void only(Kind kind, Kind owner, String key, @Nullable String value) {
    check(kind == owner || value == null, "'" + key + "' needs kind " + ConfigKey.choice(owner));
  }

  private static void check(boolean holds, String problem) {
    if (!holds) {
      throw new IllegalArgumentException(problem);
    }
  }
}
