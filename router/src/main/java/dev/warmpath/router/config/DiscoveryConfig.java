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
    @Key("required | | Kind of [source](discovery.md).") Kind kind,
    @Key(" | | Name in metrics and logs; none: its kind.") @Nullable String source,
    @Key(" | | `file`: YAML or JSON list of replicas.") @Nullable String file,
    @Key(" | | `dns`: name with one address per replica; needs `port`.") @Nullable String host,
    @Key(
            " | | `dns`, instead of `host`: name with one SRV record per replica, `_http._tcp.vllm.default.svc`.")
        @Nullable String srv,
    @AdvancedKey(" | | `dns`: DNS server, `ADDRESS:PORT`; none: the system's.")
        @Nullable String server,
    @AdvancedKey("3 | 1 … 1000 | `dns`: empty answers in a row that remove its replicas.")
        int emptyLooks,
    @Key(" | | `kubernetes`: the Service's namespace; none: the router's.")
        @Nullable String namespace,
    @Key(" | | `kubernetes`: Service name.") @Nullable String service,
    @Key(" | | `kubernetes`: label selector of EndpointSlices, instead of or beside `service`.")
        @Nullable String selector,
    @Key(" | | `kubernetes`: Service's port name; none: its only port, or `port`.")
        @Nullable String portName,
    @Key("0 | 0 … 65535 | `dns` with `host`, `kubernetes`: engines' port.") int port,
    @Key(
            "0 | 0 … 86400000 | Polling interval; 0: `file` 2 s; `dns` 5 s, with longer TTLs up to 30 s; `kubernetes` 30 s beside its watch.")
        int intervalMs,
    @Key(" | | `dns`, `kubernetes`: [template](discovery.md#the-template) of each replica.")
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
