package dev.warmpath.router.health;

import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.EngineStatus;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.router.fleet.Ejection.Circuit;
import dev.warmpath.router.fleet.EngineReport;
import dev.warmpath.router.fleet.EngineState;
import dev.warmpath.router.fleet.Fleet;
import dev.warmpath.router.fleet.KvTransfer;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.fleet.Store;
import dev.warmpath.router.health.FleetWatch.TroubleLog.Kind;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks at the whole fleet after each round of health checks and logs what an operator has to know:
 * replicas that are down, stuck or asleep, engines whose circuit is open, event streams that broke,
 * models without a replica or a tokenizer. What lasts is logged once ({@link TroubleLog}).
 *
 * <p>Confined to one thread.
 */
public final class FleetWatch {

  /** Models that are named one by one; a list of an engine may have any length. */
  private static final int MOST_MODELS = 20;

  private static final int FEW = 5;

  /**
   * Where the fleet is looked at.
   *
   * @param configuredModels the models that have a tokenizer
   * @param modelOf the configured model that a served name is read with; null if none is
   */
  public record Sources(
      Fleet fleet,
      ModelCatalog catalog,
      Supplier<List<EngineReport>> engines,
      Supplier<List<EngineStatus>> streams,
      Supplier<Collection<Store>> stores,
      Supplier<List<String>> configuredModels,
      Function<String, @Nullable String> modelOf,
      LongSupplier nanoClock) {}

  private final Sources sources;
  private final TroubleLog log = new TroubleLog();
  private final Set<EngineId> wereExact = new HashSet<>();
  private Set<String> shown = Set.of();

  public FleetWatch(Sources sources) {
    this.sources = sources;
  }

  void look() {
    long now = sources.nanoClock().getAsLong();
    List<Replica> replicas = sources.fleet().replicas();
    Map<String, Replica> byName = new HashMap<>();
    replicas.forEach(replica -> byName.put(replica.name(), replica));
    log.only(Kind.REPLICA, byName.keySet());
    log.only(Kind.LIST, byName.keySet());
    replicas.forEach(replica -> replica(replica, now));
    engines(now);
    streams(byName, now);
    stores(now);
    modelsWithoutReplica(now);
    models(replicas, now);
  }

  private void replica(Replica replica, long now) {
    report(Kind.REPLICA, replica.name(), problem(replica), now);
    if (replica.health() == Replica.Health.UP) {
      report(Kind.LIST, replica.name(), sources.catalog().problem(replica), now);
    }
  }

  private static @Nullable String problem(Replica replica) {
    if (replica.isWell() || replica.lastCheck() == Replica.Check.NONE) {
      return null;
    }
    String why = replica.problem();
    return replica.health() == Replica.Health.DOWN ? "down, " + why : why;
  }

  private void report(Kind kind, String subject, @Nullable String problem, long now) {
    if (problem == null) {
      log.well(kind, subject, now);
    } else {
      log.wrong(kind, subject, problem, now);
    }
  }

  /** An engine that only asked for a moment's rest is well. */
  private void engines(long now) {
    Set<String> names = new HashSet<>();
    List<EngineReport> reports = sources.engines().get();
    pairs(EngineReport.unpaired(reports), now);
    for (EngineReport report : reports) {
      names.add(report.engine());
      EngineState.Snapshot state = report.state();
      boolean isOpen = state.circuit() != Circuit.CLOSED && !state.isResting();
      report(Kind.ENGINE, report.engine(), isOpen ? "ejected, " + state.problem() : null, now);
    }
    log.only(Kind.ENGINE, names);
  }

  /** What is unpaired is so until all have told their models, which takes a moment. */
  private void pairs(Set<Replica> unpaired, long now) {
    Set<String> names = new HashSet<>();
    for (Replica replica : sources.fleet().replicas()) {
      if (replica.transfer().role() != KvTransfer.Role.BOTH) {
        names.add(replica.name());
        report(
            Kind.PAIR,
            replica.name(),
            unpaired.contains(replica)
                ? "no replica of its model has its kv-connector, kv-group and block size"
                : null,
            now);
      }
    }
    log.only(Kind.PAIR, names);
  }

  private void stores(long now) {
    Map<EngineId, EngineStatus> streams = new HashMap<>();
    sources.streams().get().forEach(stream -> streams.put(stream.id(), stream));
    Set<String> names = new HashSet<>();
    for (Store store : sources.stores().get()) {
      EngineStatus stream = streams.get(store.rules().id());
      if (stream != null) {
        names.add(store.name());
        report(Kind.STORE, store.name(), problem(store, stream, now), now);
      }
    }
    log.only(Kind.STORE, names);
  }

  private static @Nullable String problem(Store store, EngineStatus stream, long now) {
    if (stream.reason().startsWith("not connected")) {
      return stream.reason();
    }
    return store.isSilent(now)
        ? "it says nothing, while its readers fill it or read from it: does its 'events' publish?"
        : null;
  }

  private void streams(Map<String, Replica> byName, long now) {
    Set<String> names = new HashSet<>();
    Set<EngineId> ids = new HashSet<>();
    for (EngineStatus stream : sources.streams().get()) {
      Replica replica = byName.get(stream.id().replica());
      if (replica != null) {
        String name = EngineState.name(replica, stream.id().dpRank());
        names.add(name);
        ids.add(stream.id());
        stream(replica, name, stream, now);
      }
    }
    wereExact.retainAll(ids);
    log.only(Kind.STREAM, names);
    log.only(Kind.CONNECTION, names);
  }

  private void stream(Replica replica, String name, EngineStatus stream, long now) {
    Trust trust = stream.trust();
    if (trust == Trust.EXACT) {
      wereExact.add(stream.id());
      log.well(Kind.STREAM, name, now);
    } else if (trust == Trust.SUSPECT && wereExact.contains(stream.id())) {
      log.wrong(Kind.STREAM, name, stream.reason(), now);
    }
    boolean isUnconnected = trust == Trust.NONE && stream.reason().startsWith("not connected");
    if (!isUnconnected) {
      log.well(Kind.CONNECTION, name, now);
    } else if (replica.isWell()) {
      log.wrong(Kind.CONNECTION, name, stream.reason() + otherNode(stream), now);
    }
  }

  /** What to do for a rank that runs on another node than its HTTP port. */
  private String otherNode(EngineStatus stream) {
    return wereExact.stream().anyMatch(one -> one.replica().equals(stream.id().replica()))
        ? "; if the rank runs on another node, name its endpoint in 'events'"
        : "";
  }

  private void modelsWithoutReplica(long now) {
    Set<String> tried = new HashSet<>();
    sources.fleet().replicas().stream()
        .filter(replica -> replica.illness() < Replica.UNTRIED)
        .forEach(replica -> tried.addAll(replica.models()));
    tried.retainAll(sources.fleet().modelsWithoutReplica());
    Set<String> without = first(tried);
    for (String model : without) {
      log.wrong(Kind.MODEL, model, problemsOf(model), now);
    }
    shown.stream()
        .filter(model -> !without.contains(model))
        .forEach(model -> log.well(Kind.MODEL, model, now));
    Set<String> present = new HashSet<>(without);
    sources.fleet().replicas().forEach(replica -> present.addAll(replica.models()));
    log.only(Kind.MODEL, present);
    shown = without;
  }

  private String problemsOf(String model) {
    List<String> problems = new ArrayList<>();
    for (Replica replica : sources.fleet().replicas()) {
      if (replica.models().contains(model) && !replica.draining()) {
        problems.add(replica.name() + " (" + replica.problem() + ")");
      }
    }
    return few(problems);
  }

  /** Whether each configured model is served, and each served one can be read. */
  private void models(List<Replica> replicas, long now) {
    Map<String, Set<String>> replicasOf = new TreeMap<>();
    for (Replica replica : replicas) {
      for (String name : replica.models()) {
        replicasOf.computeIfAbsent(name, model -> new TreeSet<>()).add(replica.name());
      }
    }
    Set<String> read = new HashSet<>();
    Set<String> unread = new TreeSet<>();
    for (String name : replicasOf.keySet()) {
      String model = sources.modelOf().apply(name);
      if (model == null) {
        unread.add(name);
      } else {
        read.add(model);
      }
    }
    Set<String> configured = new TreeSet<>(sources.configuredModels().get());
    log.only(Kind.UNSERVED, configured);
    for (String model : configured) {
      report(
          Kind.UNSERVED,
          model,
          read.contains(model) ? null : "they serve " + few(replicasOf.keySet()),
          now);
    }
    Set<String> named = first(unread);
    named.forEach(
        name -> log.wrong(Kind.TOKENIZER, name, "served by " + few(replicasOf.get(name)), now));
    log.only(Kind.TOKENIZER, named);
  }

  private static Set<String> first(Set<String> models) {
    Set<String> first = new TreeSet<>();
    models.stream().sorted().limit(MOST_MODELS).forEach(first::add);
    return first;
  }

  private static String few(@Nullable Collection<String> names) {
    if (names == null || names.isEmpty()) {
      return "nothing";
    }
    List<String> first = names.stream().limit(FEW).toList();
    int more = names.size() - first.size();
    return String.join(", ", first) + (more == 0 ? "" : " and " + more + " more");
  }

  /**
   * Logs what goes wrong and what is well again: one WARN with the cause at the beginning, one INFO
   * at the end. Of what goes on and off {@value #BURST} such pairs are logged, then one a minute.
   *
   * <p>Confined to one thread.
   */
  static final class TroubleLog {

    private static final Logger LOG = LoggerFactory.getLogger(TroubleLog.class);
    private static final int BURST = 3;
    private static final double NANOS_PER_PAIR = TimeUnit.MINUTES.toNanos(1);
    private static final double NANOS_PER_SECOND = TimeUnit.SECONDS.toNanos(1);
    private static final int MOST_CHARS = 500;

    /** What can be wrong with something. */
    enum Kind {
      REPLICA("replica", "", "well again", 0),
      ENGINE("engine", "", "not ejected any more", 0),
      STREAM(
          "engine", "its events are not known in full: ", "its events are known in full again", 0),
      CONNECTION("engine", "its events do not come: ", "its events come", 10),
      STORE("store", "its events are missed: ", "its events come", 10),
      LIST("replica", "", "its models are known", 0),
      PAIR("replica", "no request is split over it: ", "requests can be split over it", 10),
      MODEL("model", "no replica is well, the least bad are tried: ", "a replica is well again", 0),
      UNSERVED("model", "configured, but no replica serves it: ", "a replica serves it", 30),
      TOKENIZER("model", "it has no tokenizer and is routed by load: ", "", 0);

      private final String noun;
      private final String wrong;
      private final String well;
      private final long patienceNanos;

      Kind(String noun, String wrong, String well, int patienceSeconds) {
        this.noun = noun;
        this.wrong = wrong;
        this.well = well;
        this.patienceNanos = TimeUnit.SECONDS.toNanos(patienceSeconds);
      }
    }

    private record Key(Kind kind, String subject) {}

    private static final class Entry {
      private boolean wrong;
      private boolean logged;
      private long wrongSinceNanos;
      private int unlogged;
      private double allowance = BURST;
      private long allowanceNanos;
    }

    private final Map<Key, Entry> entries = new HashMap<>();

    /** Something is wrong with {@code subject}. */
    void wrong(Kind kind, String subject, String why, long nowNanos) {
      Entry entry = entries.computeIfAbsent(new Key(kind, subject), key -> new Entry());
      if (!entry.wrong) {
        entry.wrong = true;
        entry.wrongSinceNanos = nowNanos;
      }
      boolean isDue = !entry.logged && nowNanos - entry.wrongSinceNanos >= kind.patienceNanos;
      if (isDue && spend(entry, nowNanos)) {
        String more = entry.unlogged == 0 ? "" : " (and " + entry.unlogged + " times before)";
        LOG.warn("{} {}: {}{}{}", kind.noun, plain(subject), kind.wrong, plain(why), more);
        entry.logged = true;
        entry.unlogged = 0;
      }
    }

    private static boolean spend(Entry entry, long nowNanos) {
      double refill = (nowNanos - entry.allowanceNanos) / NANOS_PER_PAIR;
      entry.allowance =
          entry.allowance == BURST ? BURST : Math.min(BURST, entry.allowance + refill);
      entry.allowanceNanos = nowNanos;
      if (entry.allowance < 1) {
        return false;
      }
      entry.allowance--;
      return true;
    }

    /** Nothing of that kind is wrong with {@code subject}. */
    void well(Kind kind, String subject, long nowNanos) {
      Entry entry = entries.get(new Key(kind, subject));
      if (entry == null || !entry.wrong) {
        return;
      }
      if (entry.logged) {
        double seconds = (nowNanos - entry.wrongSinceNanos) / NANOS_PER_SECOND;
        LOG.info("{} {}: {} after {} s", kind.noun, plain(subject), kind.well, Math.round(seconds));
      } else if (nowNanos - entry.wrongSinceNanos >= kind.patienceNanos) {
        entry.unlogged++;
      }
      entry.wrong = false;
      entry.logged = false;
    }

    /** Things of that kind that are not among these are there no more, or nothing is wrong. */
    void only(Kind kind, Set<String> subjects) {
      entries.keySet().removeIf(key -> key.kind() == kind && !subjects.contains(key.subject()));
    }

    /** What engines named, as one line. */
    private static String plain(String text) {
      String cut = text.length() > MOST_CHARS ? text.substring(0, MOST_CHARS) + "…" : text;
      return cut.replaceAll("\\p{Cntrl}", "?");
    }
  }
}
