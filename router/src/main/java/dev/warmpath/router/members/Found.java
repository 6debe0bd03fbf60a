package dev.warmpath.router.members;

import dev.warmpath.router.config.ReplicaConfig;
import dev.warmpath.router.config.ReplicaTemplate;
import dev.warmpath.router.config.read.ConfigException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a look found.
 *
 * <p>Immutable.
 *
 * @param refused addresses that make no replica, each with the reason
 * @param validMillis how long it need not be looked for again; 0: as long as usual
 */
public record Found(List<ReplicaConfig> replicas, List<String> refused, long validMillis) {

  public Found {
    replicas = List.copyOf(replicas);
    refused = List.copyOf(refused);
  }

  /**
   * The replicas at some addresses, ordered by name. An address that makes none is refused alone;
   * of two with one name the first is taken.
   *
   * @param refused addresses that were refused before
   */
  public static Found at(
      Collection<Address> addresses,
      ReplicaTemplate template,
      Collection<String> refused,
      long validMillis) {
    Map<String, ReplicaConfig> replicas = new TreeMap<>();
    List<String> problems = new ArrayList<>(refused);
    List<Address> ordered =
        addresses.stream()
            .sorted(Comparator.comparing(Address::host).thenComparingInt(Address::port))
            .toList();
    for (Address address : ordered) {
      try {
        ReplicaConfig replica = address.replica(template);
        if (replicas.putIfAbsent(replica.name(), replica) != null) {
          problems.add(address + ": another address is named '" + replica.name() + "'");
        }
      } catch (ConfigException e) {
        problems.addAll(e.problems());
      }
    }
    return new Found(List.copyOf(replicas.values()), problems, validMillis);
  }
}
