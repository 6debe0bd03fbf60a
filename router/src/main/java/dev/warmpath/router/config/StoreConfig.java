package dev.warmpath.router.config;

import dev.warmpath.eventingest.StoreRules;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A store of KV blocks that several replicas write and read.
 *
 * <p>Immutable.
 *
 * @param events where it publishes what it holds; null if only its readers tell
 * @param model whose blocks it holds; null for that of all replicas
 * @param replicas who read it, each a name or the begin of names with a star behind it; empty for
 *     all of the model
 */
public record StoreConfig(
    @Key(required = true) String name,
    @Key @Nullable String events,
    @Key @Nullable String model,
    @Key List<String> replicas,
    @Key(advanced = true) @Nullable String medium,
    @Key(advanced = true) @Nullable String keyPrefix) {

  private static final String NAME = "[A-Za-z0-9._-]{1,63}";

  public StoreConfig {
    replicas = List.copyOf(replicas);
    check(name.matches(NAME), "'name' must be letters, digits, '.', '_', '-', at most 63");
    check(
        events == null || events.matches("(tcp|ipc|inproc)://\\S+"),
        "'events' must be a ZMQ endpoint such as tcp://host:5557");
    check(
        replicas.stream().allMatch(one -> one.matches(NAME + "\\*?")),
        "'replicas' must be names, or begins of names with '*' behind them");
    check(keyPrefix == null || events != null, "'key-prefix' needs 'events'");
  }

  private static void check(boolean holds, String problem) {
    if (!holds) {
      throw new IllegalArgumentException(problem);
    }
  }

  /** Whether a replica reads it. */
  public boolean isReadBy(String replica, String itsModel, String onlyModel) {
    return itsModel.equals(model == null ? onlyModel : model)
        && (replicas.isEmpty() || replicas.stream().anyMatch(each -> fits(each, replica)));
  }

  private static boolean fits(String pattern, String replica) {
    return pattern.endsWith("*")
        ? replica.startsWith(pattern.substring(0, pattern.length() - 1))
        : replica.equals(pattern);
  }

  /** What its events, and those of its readers, are read by. */
  public StoreRules rules() {
    return new StoreRules(name, medium, events != null, keyPrefix == null ? "" : keyPrefix);
  }
}
