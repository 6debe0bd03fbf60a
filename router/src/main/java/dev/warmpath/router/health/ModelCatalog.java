package dev.warmpath.router.health;

import dev.warmpath.router.fleet.Fleet;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.prompt.Tokenizers;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What the replicas said that they serve, the last time they were asked.
 *
 * <p>Thread-safe.
 */
public final class ModelCatalog implements Tokenizers.Adapters {

  private final Fleet fleet;
  private final Predicate<Replica> joinsNames;
  private final Map<Replica, List<ServedModel>> byReplica = new ConcurrentHashMap<>();
  private final Map<Replica, String> unread = new ConcurrentHashMap<>();
  private volatile Map<String, ServedModel> adapters = Map.of();

  /**
   * @param joinsNames whether requests to a replica name an adapter behind its base model, as
   *     SGLang's do
   */
  public ModelCatalog(Fleet fleet, Predicate<Replica> joinsNames) {
    this.fleet = fleet;
    this.joinsNames = joinsNames;
    fleet.onRemoval(removed -> refresh());
  }

  /** A replica's list could not be read. What is known of its models stays. */
  void missed(Replica replica, String why) {
    unread.put(replica, why);
    if (!fleet.replicas().contains(replica)) {
      unread.remove(replica);
    }
  }

  /**
   * Why it is not known what the replica serves, or that it serves nothing; null if all is well.
   */
  @Nullable String problem(Replica replica) {
    String why = unread.get(replica);
    if (!replica.namesModels()) {
      return "its /v1/models cannot be read"
          + (why == null ? "" : ": " + why)
          + "; it is asked for any model";
    }
    return replica.models().isEmpty()
        ? "its /v1/models is empty and no models are configured for it: it gets no requests"
        : null;
  }

  void learn(Replica replica, List<ServedModel> listed) {
    unread.remove(replica);
    List<ServedModel> models =
        joinsNames.test(replica)
            ? listed.stream().map(ServedModel::behindBase).toList()
            : List.copyOf(listed);
    replica.maxTokens(maxTokens(models));
    replica.models(models.stream().map(ServedModel::id).collect(Collectors.toSet()));
    List<ServedModel> before = byReplica.put(replica, models);
    if (!fleet.replicas().contains(replica)) {
      byReplica.remove(replica); // the answer came after the replica was removed
    } else if (before == null || !adapterNames(before).equals(adapterNames(models))) {
      refresh();
    }
  }

  /** An adapter whose entry does not say has its base model's. */
  private static Map<String, Integer> maxTokens(List<ServedModel> models) {
    Map<String, Integer> said = new HashMap<>();
    for (ServedModel served : models) {
      if (served.maxTokens() > 0) {
        said.put(served.id(), served.maxTokens());
      }
    }
    for (ServedModel served : models) {
      Integer base = served.parent() == null ? null : said.get(served.parent());
      if (base != null) {
        said.putIfAbsent(served.id(), base);
      }
    }
    return said;
  }

  private static List<String> adapterNames(List<ServedModel> models) {
    return models.stream()
        .filter(served -> served.parent() != null)
        .flatMap(served -> Stream.of(served.id(), served.name(), served.parent()))
        .toList();
  }

  /** What the replica's engines were started with: a name, or a path. */
  List<String> roots(Replica replica) {
    return of(replica).stream()
        .filter(model -> model.parent() == null)
        .flatMap(model -> Stream.ofNullable(model.root()))
        .distinct()
        .toList();
  }

  /** Lists the adapters of all replicas anew. */
  private synchronized void refresh() {
    Set<Replica> present = new HashSet<>(fleet.replicas()); // a list is searched for each
    byReplica.keySet().retainAll(present);
    unread.keySet().retainAll(present);
    Map<String, ServedModel> all = new HashMap<>();
    for (Replica replica : fleet.replicas()) {
      of(replica).stream()
          .filter(served -> served.parent() != null)
          .forEach(served -> all.putIfAbsent(served.id(), served));
    }
    adapters = all;
  }

  @Override
  public @Nullable String baseOf(String model) {
    ServedModel adapter = adapters.get(model);
    return adapter == null ? null : adapter.parent();
  }

  @Override
  public String nameOf(String model) {
    ServedModel adapter = adapters.get(model);
    return adapter == null ? model : adapter.name();
  }

  /**
   * The models of all replicas that are up or only slow, one entry each, in the form of {@code
   * /v1/models}; null if there is no such replica.
   *
   * @param shown whether a model is listed, by its name there
   */
  public @Nullable String list(Predicate<String> shown) {
    Map<String, String> entries = new LinkedHashMap<>();
    boolean anyUp = false;
    for (Replica replica : fleet.replicas()) {
      if (replica.health() == Replica.Health.UP || replica.isOnlySlow()) {
        anyUp = true;
        of(replica).stream()
            .filter(model -> shown.test(model.id()))
            .forEach(model -> entries.putIfAbsent(model.id(), model.entry()));
      }
    }
    if (!anyUp) {
      return null;
    }
    return "{\"object\":\"list\",\"data\":[" + String.join(",", entries.values()) + "]}";
  }

  /** The entry of one model there; null if no replica that is up serves it. */
  public @Nullable String entry(String id) {
    return fleet.replicas().stream()
        .filter(replica -> replica.health() == Replica.Health.UP)
        .flatMap(replica -> of(replica).stream())
        .filter(model -> model.id().equals(id))
        .findFirst()
        .map(ServedModel::entry)
        .orElse(null);
  }

  private List<ServedModel> of(Replica replica) {
    return byReplica.getOrDefault(replica, List.of());
  }
}
