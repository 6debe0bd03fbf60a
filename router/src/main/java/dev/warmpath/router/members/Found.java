package dev.warmpath.router.members;

import dev.warmpath.router.config.ConfigException;
import dev.warmpath.router.config.ReplicaConfig;
import dev.warmpath.router.config.ReplicaTemplate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What a look found; filled by it, and then changed no more.
 *
 * <p>Of two replicas with one name the first is taken: a look that finds addresses in any order
 * sorts them before.
 */
public final class Found {

  private final Map<String, ReplicaConfig> replicas = new TreeMap<>();
  private final List<String> refused = new ArrayList<>();
  private long validMillis;

  /** The replicas, ordered by name. */
  public List<ReplicaConfig> replicas() {
    return List.copyOf(replicas.values());
  }

  /** What makes no replica, each with the reason. */
  public List<String> refused() {
    return List.copyOf(refused);
  }

  /** How long it need not be looked for again; 0: as long as usual. */
  long validMillis() {
    return validMillis;
  }

  void validMillis(long millis) {
    validMillis = millis;
  }

  /** Whether nothing was there, not even what makes no replica. */
  boolean isEmpty() {
    return replicas.isEmpty() && refused.isEmpty();
  }

  void add(ReplicaConfig replica) {
    replicas.putIfAbsent(replica.name(), replica);
  }

  /**
   * Adds the replica at an address. One that makes none is refused alone.
   *
   * @param name what {@code {name}} stands for; null if only the address is known
   * @param annotations as of {@link ReplicaTemplate#replica}
   * @return whether there is a replica now that was not there before
   */
  boolean add(
      ReplicaTemplate template,
      @Nullable String name,
      String host,
      int port,
      Map<String, String> annotations) {
    return add(template, name, host, port, annotations, 0);
  }

  /**
   * The same for one of several ranks there.
   *
   * @param rank as of {@link ReplicaTemplate#replica}
   */
  boolean add(
      ReplicaTemplate template,
      @Nullable String name,
      String host,
      int port,
      Map<String, String> annotations,
      int rank) {
    try {
      ReplicaConfig replica =
          template.replica(
              name == null ? host.replace(':', '-') : name, host, port, annotations, rank);
      if (replicas.putIfAbsent(replica.name(), replica) == null) {
        return true;
      }
      refuse(
          ReplicaTemplate.address(host, port)
              + ": another address is named '"
              + replica.name()
              + "'");
    } catch (ConfigException e) {
      refused.addAll(e.problems());
    }
    return false;
  }

  /** Refuses what makes no replica, for this reason. */
  void refuse(String why) {
    refused.add(why);
  }
}
