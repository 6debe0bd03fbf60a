package dev.warmpath.router.members;

import dev.warmpath.router.config.ReplicaConfig;
import dev.warmpath.router.members.ReplicaCheck.Verdict;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The replicas that each source names. Of two sources that name one replica the earlier one counts.
 *
 * <p>Confined to its owner's lock.
 */
final class NamedReplicas {

  private final Map<String, List<ReplicaConfig>> bySource = new LinkedHashMap<>();

  /**
   * A replica that shall be there.
   *
   * @param source that names it first
   * @param named as that describes it
   * @param config the same, with what its engine says
   * @param addresses that may be connected to, by its hosts' names
   */
  record Wanted(
      String source,
      ReplicaConfig named,
      ReplicaConfig config,
      Map<String, List<String>> addresses) {

    Wanted described(ReplicaConfig byEngine) {
      return new Wanted(source, named, byEngine, addresses);
    }
  }

  /**
   * What all sources together name.
   *
   * @param wanted by name
   */
  record Merged(Map<String, Wanted> wanted, List<Refusal> refused) {}

  /** Adds a source, behind those that are there; false if there is one of that name. */
  boolean add(String source) {
    return bySource.putIfAbsent(source, List.of()) == null;
  }

  /** The names of the sources, in their order. */
  List<String> sources() {
    return List.copyOf(bySource.keySet());
  }

  /** What the source names. */
  List<ReplicaConfig> of(String source) {
    List<ReplicaConfig> named = bySource.get(source);
    if (named == null) {
      throw new IllegalArgumentException("source=" + source);
    }
    return named;
  }

  /** What the source names but that one. */
  List<ReplicaConfig> without(String source, String name) {
    List<ReplicaConfig> replicas = new ArrayList<>(of(source));
    replicas.removeIf(replica -> replica.name().equals(name));
    return replicas;
  }

  /** The source names exactly these. */
  void set(String source, List<ReplicaConfig> replicas) {
    bySource.put(source, List.copyOf(replicas));
  }

  /**
   * One replica for each name.
   *
   * @param judge says of a source and its replica whether it may be there
   */
  Merged merged(ReplicaCheck judge) {
    Merged merged = new Merged(new LinkedHashMap<>(), new ArrayList<>());
    bySource.forEach((source, replicas) ->
        replicas.forEach(replica -> {
          Wanted earlier = merged.wanted.get(replica.name());
          Verdict verdict =
              earlier == null
                  ? judge.judge(source, replica)
                  : Verdict.refused("the name is taken by a replica of " + earlier.source());
          String reason = verdict.refusal();
          if (reason == null) {
            merged.wanted.put(
                replica.name(), new Wanted(source, replica, replica, verdict.addresses()));
          } else {
            merged.refused.add(new Refusal(source, replica.name(), reason));
          }
        }));
    return merged;
  }
}
