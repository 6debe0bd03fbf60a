package dev.warmpath.router.config;

import dev.warmpath.router.config.read.AdvancedKey;
import dev.warmpath.router.config.read.Key;
import java.util.Locale;
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
    @Key("required | | Where to look for replicas ([discovery](discovery.md)).") Kind kind,
    @Key(" | | Name of the source in metrics and logs; none: its kind.") @Nullable String source,
    @Key(" | | `file`: YAML or JSON file with a list of replicas, each as in `replicas`.")
        @Nullable String file,
    @Key(" | | `dns`: name with an address for each replica; needs `port`.") @Nullable String host,
    @Key(
            " | | `dns`: name with an SRV record for each replica, such as `_http._tcp.vllm.default.svc`; in place of `host`.")
        @Nullable String srv,
    @AdvancedKey(
            " | | `dns`: address of the DNS server, `ADDRESS:PORT`; none: those of the system.")
        @Nullable String server,
    @AdvancedKey(
            "3 | 1 … 1000 | `dns`: answers without an address in a row after which its replicas leave.")
        int emptyLooks,
    @Key(" | | `kubernetes`: namespace of the Service; none: the router's own.")
        @Nullable String namespace,
    @Key(" | | `kubernetes`: name of the Service.") @Nullable String service,
    @Key(
            " | | `kubernetes`: label selector of EndpointSlices, which carry the labels of their Service; in place of `service`, or beside it.")
        @Nullable String selector,
    @Key(
            " | | `kubernetes`: name of the engines' port in the Service; none: its only port, or `port`.")
        @Nullable String portName,
    @Key("0 | 0 … 65535 | `dns` with `host`, `kubernetes`: port of every engine.") int port,
    @Key(
            "0 | 0 … 86400000 | Time between two looks; 0: 2 s (`file`), 5 s (`dns`; longer while its records are valid, up to 30 s), 30 s (`kubernetes`, where changes are seen at once).")
        int intervalMs,
    @Key(
            " | | `dns`, `kubernetes`: keys of each replica, as in `replicas`, with `{name}`, `{host}` and `{port}`; none: `name: \"{name}\"` and `url: http://{host}:{port}`.")
        ReplicaTemplate replica) {

  /** Where a source looks. */
  public enum Kind {
    FILE(2_000),
    DNS(5_000),
    KUBERNETES(30_000);

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
    only(kind, Kind.KUBERNETES, "namespace", namespace);
    only(kind, Kind.KUBERNETES, "service", service);
    only(kind, Kind.KUBERNETES, "selector", selector);
    only(kind, Kind.KUBERNETES, "port-name", portName);
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
    }
  }

  /** Its name in metrics and logs. */
  public String name() {
    return source == null ? kind.name().toLowerCase(Locale.ROOT) : source;
  }

  /** Time between two looks, in milliseconds. */
  public long interval() {
    return intervalMs == 0 ? kind.usualIntervalMs : intervalMs;
  }

  private static void only(Kind kind, Kind owner, String key, @Nullable String value) {
    check(
        kind == owner || value == null,
        "'" + key + "' needs kind " + owner.name().toLowerCase(Locale.ROOT));
  }

  private static void check(boolean holds, String problem) {
    if (!holds) {
      throw new IllegalArgumentException(problem);
    }
  }
}
