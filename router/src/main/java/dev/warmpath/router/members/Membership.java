package dev.warmpath.router.members;

import dev.warmpath.router.config.Records;
import dev.warmpath.router.config.ReplicaConfig;
import dev.warmpath.router.fleet.Fleet;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.members.NamedReplicas.Wanted;
import dev.warmpath.router.members.ReplicaCheck.Verdict;
import java.net.URI;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Owns the fleet: it alone adds and removes replicas, by what the sources name: the configuration,
 * the admin API, and each kind of discovery, in this order. Of two sources that name one replica
 * the earlier one counts.
 *
 * <p>A replica that nobody names any more gets no new requests, and leaves when it is idle or after
 * a time. One whose engine is described otherwise is replaced at once; what runs at the old one
 * runs on. Another weight, or other models, change nothing else, except that its events are
 * followed anew if their blocks are another model's.
 *
 * <p>What an engine says of its ranks and events ({@link EventSources}) goes over what is
 * configured, as if that had changed.
 *
 * <p>Thread-safe. Changes may wait for the index writer, so they are not for event loops.
 */
public final class Membership implements AutoCloseable, EventSources.Listener {

  /** The source of the configured replicas. */
  public static final String CONFIGURATION = "configuration";

  /** The source of those that operators add at run time. */
  public static final String ADMIN = "admin";

  private static final Logger LOG = LoggerFactory.getLogger(Membership.class);
  private static final long LOOK_MILLIS = 100;

  /** So many problems of one engine's answer are logged. */
  private static final int MOST_PROBLEMS = 4;

  /** A replica that was added at run time is found again so long after its host has moved. */
  private static final long LOOKUP_MILLIS = 5_000;

  /** So long what an earlier process knew waits for replicas that are found. */
  private static final long FIRST_LOOKS_MILLIS = 60_000;

  /** What may change without another replica. */
  private static final Set<String> IN_PLACE = Set.of("weight", "models");

  /** What else belongs to replicas; called by one thread at a time. */
  public interface Follower {

    /**
     * Reads the replica's credentials and follows its events, if it has any; of all its ranks or,
     * if it throws, of none, and then its credentials are forgotten.
     *
     * @param model of its blocks; empty for any
     */
    void follow(ReplicaConfig replica, String model);

    /**
     * The fleet will have the replica, whose events are followed.
     *
     * @param address to connect to instead of looking up its host's name; null to look it up
     */
    default void entering(Replica replica, ReplicaConfig config, @Nullable String address) {}

    /** Forgets all that the replica's events told, and the credentials if no other needs them. */
    void unfollow(ReplicaConfig replica);

    /** What an earlier process knew of other replicas is not needed any more. */
    void allKnown();

    /** The fleet shall have these replicas from now on. */
    void changed(List<ReplicaConfig> replicas);
  }

  /**
   * What membership works with.
   *
   * @param drainMillis longest time that a replica that leaves may go on with its requests
   * @param check judges each replica that is not there yet
   */
  public record Environment(
      Fleet fleet,
      Follower follower,
      ReplicaCheck check,
      LongSupplier drainMillis,
      LongSupplier nanoClock,
      ThreadFactory threads) {}

  /**
   * What the engine of a replica has said.
   *
   * @param asked the replica as it is named
   * @param hosts that it names and that may be followed
   */
  private record Told(ReplicaConfig asked, EventSources sources, Set<String> hosts) {}

  /**
   * A replica of the fleet, as it is now.
   *
   * @param model of its blocks
   * @param addresses that are connected to, by its hosts' names
   */
  private record Entry(
      Member member, String model, long leavesNanos, Map<String, String> addresses) {

    /** Its description with the endpoints that are connected to. */
    ReplicaConfig connected() {
      return member.config().connectingTo(addresses);
    }

    String name() {
      return member.config().name();
    }

    boolean isIdle() {
      return member.replica().requests() == 0;
    }
  }

  private final Environment environment;
  private final ScheduledExecutorService thread;
  private final ScheduledExecutorService lookups;
  private final NamedReplicas named = new NamedReplicas();
  private final Map<String, ReplicaSource> sources = new ConcurrentHashMap<>();
  private final Map<String, Entry> entries = new LinkedHashMap<>();
  private final Map<String, Told> told = new HashMap<>();
  private final Map<String, List<String>> shownProblems = new HashMap<>();
  private final Set<String> drained = ConcurrentHashMap.newKeySet();
  private volatile Map<Replica, Member> members = Map.of();
  private volatile List<Refusal> refusals = List.of();

  /** URLs that several replicas have, with the replicas' names. */
  private Map<URI, List<String>> shared = Map.of();

  private String onlyModel = "";
  private boolean watching;
  private Map<Entry, Verdict> movedHosts = Map.of();

  public Membership(Environment environment) {
    this.environment = environment;
    this.thread = Executors.newSingleThreadScheduledExecutor(environment.threads());
    this.lookups = Executors.newSingleThreadScheduledExecutor(environment.threads());
    named.add(CONFIGURATION);
    named.add(ADMIN);
  }

  /** The replicas of the fleet now, as a list that does not change any more. */
  public List<Member> members() {
    return List.copyOf(members.values());
  }

  /** The replicas that are named and not there. */
  public List<Refusal> refusals() {
    return refusals;
  }

  /** The kinds of discovery, in the order in which they came. */
  public List<ReplicaSource> sources() {
    synchronized (this) {
      return named.sources().stream().filter(sources::containsKey).map(sources::get).toList();
    }
  }

  /** How a replica was described; empty if it has left. */
  public Optional<ReplicaConfig> config(Replica replica) {
    return Optional.ofNullable(members.get(replica)).map(Member::config);
  }

  /**
   * Fills the fleet for the first time.
   *
   * @param onlyModel as of {@link #configure}
   * @param sources started now, and closed in the end
   */
  public void begin(List<ReplicaConfig> configured, String onlyModel, List<ReplicaSource> sources) {
    configure(configured, onlyModel);
    var unused =
        lookups.scheduleWithFixedDelay(
            this::lookUpHostsSafely, LOOKUP_MILLIS, LOOKUP_MILLIS, TimeUnit.MILLISECONDS);
    sources.forEach(this::follow);
    if (sources.isEmpty() && configured.stream().noneMatch(ReplicaConfig::asksForEvents)) {
      environment.follower().allKnown();
    } else {
      later(environment.follower()::allKnown, FIRST_LOOKS_MILLIS);
    }
  }

  private void follow(ReplicaSource source) {
    synchronized (this) {
      if (!named.add(source.name())) {
        throw new IllegalArgumentException("source=" + source.name());
      }
      sources.put(source.name(), source);
    }
    source.start(found -> later(() -> set(source.name(), found), 0));
  }

  private void later(Runnable work, long delayMillis) {
    Runnable guarded =
        () -> {
          try {
            work.run();
          } catch (RuntimeException e) {
            LOG.error("the fleet could not be changed", e);
          }
        };
    try {
      var unused = thread.schedule(guarded, delayMillis, TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      LOG.debug("closed, the fleet changes no more");
    }
  }

  /**
   * The configuration names exactly these replicas from now on. Either all that follows from that
   * is done or, if it throws, nothing.
   *
   * @param onlyModel whose blocks every replica has that names no model; empty if there are several
   */
  public synchronized FleetChange configure(List<ReplicaConfig> replicas, String onlyModel) {
    String before = this.onlyModel;
    this.onlyModel = onlyModel;
    try {
      return set(CONFIGURATION, replicas);
    } catch (RuntimeException e) {
      this.onlyModel = before;
      throw e;
    }
  }

  /**
   * The source names exactly these replicas from now on. Either all that follows from that is done
   * or, if it throws, nothing.
   *
   * @param replicas with different names
   */
  public synchronized FleetChange set(String source, List<ReplicaConfig> replicas) {
    List<ReplicaConfig> before = named.of(source);
    named.set(source, replicas);
    try {
      return apply();
    } catch (RuntimeException e) {
      named.set(source, before);
      throw e;
    }
  }

  /** The source names one more replica, in the place of one of the same name, unless it may not. */
  public synchronized FleetChange put(String source, ReplicaConfig replica) {
    String refused = judge(source, replica).refusal();
    if (refused != null) {
      return FleetChange.refused(new Refusal(source, replica.name(), refused));
    }
    List<ReplicaConfig> replicas = named.without(source, replica.name());
    replicas.add(replica);
    return set(source, replicas);
  }

  /** The source names that replica no more. */
  public synchronized FleetChange drop(String source, String name) {
    return set(source, named.without(source, name));
  }

  /**
   * Gives the replica no new requests until it is resumed, whatever the sources say.
   *
   * @return false if there is none of that name
   */
  public synchronized boolean drain(String name) {
    Entry entry = entries.get(name);
    if (entry != null) {
      drained.add(name);
      entry.member().replica().draining(true);
      LOG.info("replica {} drains", name);
    }
    return entry != null;
  }

  /**
   * Gives the replica requests again.
   *
   * @return false if there is none of that name, or if it leaves
   */
  public synchronized boolean resume(String name) {
    Entry entry = entries.get(name);
    boolean stays = entry != null && !entry.member().leaving();
    if (entry != null && stays) {
      drained.remove(name);
      entry.member().replica().draining(false);
      LOG.info("replica {} gets requests again", name);
    }
    return stays;
  }

  private FleetChange apply() {
    NamedReplicas.Merged merged = named.merged(this::judge);
    Map<String, Wanted> wanted = merged.wanted();
    wanted.replaceAll((name, one) -> one.described(describe(one.named())));
    Difference difference = new Difference();
    wanted.values().forEach(difference::see);
    entries.values().stream()
        .filter(entry -> !wanted.containsKey(entry.name()) && !entry.member().leaving())
        .forEach(difference.leave::add);
    difference.follow();
    difference.commit();
    FleetChange change = difference.change(merged.refused());
    publish(change);
    return change;
  }

  /** A replica that is there already was judged when it came, or when its host moved. */
  private Verdict judge(String source, ReplicaConfig replica) {
    Entry known = entries.get(replica.name());
    if (known == null
        || known.member().leaving()
        || !known.member().named().equals(replica)
        || !known.member().source().equals(source)) {
      return environment.check().judge(source, replica);
    }
    Verdict moved = movedHosts.get(known);
    if (moved != null) {
      return moved;
    }
    Map<String, List<String>> addresses = new HashMap<>();
    known.addresses().forEach((host, address) -> addresses.put(host, List.of(address)));
    return new Verdict(null, addresses, true);
  }

  /** The replica as its engine describes it, as far as it was asked. */
  private ReplicaConfig describe(ReplicaConfig named) {
    Told known = told.get(named.name());
    return known == null || !isSameEngine(known.asked(), named)
        ? named
        : known.sources().describe(named, known.hosts()::contains).replica();
  }

  /** One that connects to an endpoint that is bound here knows nothing that matters. */
  @Override
  public boolean isAsked(Replica replica) {
    Member member = members.get(replica);
    return member != null
        && member.named().events() != null
        && !member.named().bind()
        && member.named().dialect().isVllm();
  }

  @Override
  public CompletionStage<Boolean> told(Replica replica, EventSources sources) {
    CompletableFuture<Boolean> done = new CompletableFuture<>();
    later(
        () -> {
          boolean changed = false;
          try {
            changed = learn(replica, sources);
          } finally {
            done.complete(changed);
          }
        },
        0);
    return done;
  }

  /** Whether the fleet has changed by it. */
  private boolean learn(Replica replica, EventSources sources) {
    Member member = members.get(replica);
    if (member == null || isKnown(member.named(), sources)) {
      return false;
    }
    Set<String> hosts =
        sources.hosts().stream()
            .filter(host -> environment.check().mayFollow(member.named(), host))
            .collect(Collectors.toSet());
    return learn(replica, new Told(member.named(), sources, hosts));
  }

  private synchronized boolean isKnown(ReplicaConfig named, EventSources sources) {
    Told known = told.get(named.name());
    return known != null && known.sources().equals(sources) && isSameEngine(known.asked(), named);
  }

  private synchronized boolean learn(Replica replica, Told now) {
    Member member = members.get(replica);
    if (member == null || member.leaving() || !isSameEngine(member.named(), now.asked())) {
      return false;
    }
    String name = replica.name();
    Told before = told.put(name, now);
    try {
      FleetChange change = apply();
      shown(name, now.sources().describe(member.named(), now.hosts()::contains));
      return !change.isEmpty();
    } catch (RuntimeException e) {
      told.remove(name);
      if (before != null) {
        told.put(name, before);
      }
      throw e;
    }
  }

  private void shown(String name, EventSources.Described described) {
    List<String> problems = described.problems();
    if (problems.isEmpty()) {
      ReplicaConfig now = described.replica();
      String ranks =
          now.ranks() == 1
              ? "rank " + now.firstRank()
              : "ranks %d to %d".formatted(now.firstRank(), now.firstRank() + now.ranks() - 1);
      LOG.info("replica {}: {}, events at {}", name, ranks, now.eventsOf(0));
    } else if (!problems.equals(shownProblems.get(name))) {
      problems.stream()
          .limit(MOST_PROBLEMS)
          .forEach(problem -> LOG.warn("replica {}: its engine {}", name, problem));
      if (problems.size() > MOST_PROBLEMS) {
        LOG.warn("replica {}: {} more of this kind", name, problems.size() - MOST_PROBLEMS);
      }
    }
    shownProblems.put(name, problems);
  }

  private void lookUpHostsSafely() {
    try {
      lookUpHosts();
    } catch (RuntimeException | LinkageError e) {
      LOG.error("the hosts of replicas could not be looked up", e);
    }
  }

  /** Looks up again what the names stand for by which replicas were allowed. */
  void lookUpHosts() {
    List<Entry> named;
    synchronized (this) {
      named =
          entries.values().stream()
              .filter(entry -> !entry.addresses().isEmpty() && !entry.member().leaving())
              .toList();
    }
    for (Entry entry : named) {
      Member member = entry.member();
      Verdict now = environment.check().judge(member.source(), member.named());
      boolean moved =
          now.refusal() != null
              || !connected(entry.addresses(), now.addresses()).equals(entry.addresses());
      if (now.known() && moved) {
        hostMoved(entry, now);
      }
    }
  }

  @SuppressWarnings("ReferenceEquality") // another entry of that name may stand there by now
  private synchronized void hostMoved(Entry entry, Verdict now) {
    if (entries.get(entry.name()) == entry) {
      LOG.info("replica {}: its host has moved from {}", entry.name(), entry.addresses());
      movedHosts = Map.of(entry, now);
      try {
        apply();
      } finally {
        movedHosts = Map.of();
      }
    }
  }

  /** One address for each name: that of before, if it is still one of the name's. */
  private static Map<String, String> connected(
      Map<String, String> before, Map<String, List<String>> allowed) {
    Map<String, String> addresses = new HashMap<>();
    allowed.forEach((host, found) -> {
      String known = before.get(host);
      addresses.put(host, known != null && found.contains(known) ? known : found.get(0));
    });
    return Map.copyOf(addresses);
  }

  private void publish(FleetChange change) {
    show();
    change.refused().stream()
        .filter(refusal -> !refusals.contains(refusal))
        .forEach(refusal ->
            LOG.warn(
                "replica {} of {} is refused: {}",
                refusal.replica(),
                refusal.source(),
                refusal.reason()));
    refusals = change.refused();
    warnOfSharedUrls();
    if (!change.isEmpty()) {
      environment
          .follower()
          .changed(
              entries.values().stream()
                  .map(Entry::member)
                  .filter(member -> !member.leaving())
                  .map(Member::config)
                  .toList());
      LOG.info(
          "the fleet has {} replicas: added {}, leaving {}, replaced {}, adjusted {}",
          members.size(),
          change.added(),
          change.removed(),
          change.replaced(),
          change.adjusted());
    }
  }

  /** Two replicas behind one URL are one engine that is given twice the load. */
  private void warnOfSharedUrls() {
    Map<URI, List<String>> names =
        entries.values().stream()
            .filter(entry -> !entry.member().leaving())
            .collect(
                Collectors.groupingBy(
                    entry -> entry.member().config().url(),
                    Collectors.mapping(Entry::name, Collectors.toList())));
    names.values().removeIf(sharing -> sharing.size() == 1);
    names.forEach((url, sharing) -> {
      if (!sharing.equals(shared.get(url))) {
        LOG.warn("the replicas {} have one URL, {}: they are one engine", sharing, url);
      }
    });
    shared = names;
  }

  /** From the fleet as it is to the fleet as it shall be. */
  private final class Difference {
    private final List<Wanted> come = new ArrayList<>();
    private final List<Entry> leave = new ArrayList<>();
    private final Map<Entry, Wanted> replace = new LinkedHashMap<>();
    private final Map<Entry, Wanted> adjust = new LinkedHashMap<>();

    void see(Wanted wanted) {
      Entry known = entries.get(wanted.config().name());
      if (known == null) {
        come.add(wanted);
      } else if (!isSameEngine(known.member().config(), wanted.config())
          || !connected(known.addresses(), wanted.addresses()).equals(known.addresses())) {
        replace.put(known, wanted);
      } else if (known.member().leaving()
          || isRenamed(known, wanted)
          || !known.member().config().equals(wanted.config())
          || !known.member().source().equals(wanted.source())) {
        adjust.put(known, wanted);
      }
    }

    /** What may fail is done first, and undone if it does. */
    void follow() {
      List<Runnable> undo = new ArrayList<>();
      try {
        come.forEach(wanted -> follow(wanted, Map.of(), undo));
        replace.forEach((old, wanted) -> followAnew(old, wanted, undo));
        adjust.forEach((old, wanted) -> {
          if (isRenamed(old, wanted)) {
            followAnew(old, wanted, undo);
          }
        });
      } catch (RuntimeException e) {
        for (int i = undo.size() - 1; i >= 0; i--) {
          undo.get(i).run();
        }
        throw e;
      }
    }

    private void followAnew(Entry old, Wanted wanted, List<Runnable> undo) {
      environment.follower().unfollow(old.member().config());
      undo.add(() -> environment.follower().follow(old.connected(), old.model()));
      follow(wanted, old.addresses(), undo);
    }

    private void follow(Wanted wanted, Map<String, String> before, List<Runnable> undo) {
      ReplicaConfig replica = wanted.config();
      ReplicaConfig connected = replica.connectingTo(connected(before, wanted.addresses()));
      environment.follower().follow(connected, replica.blockModel(onlyModel));
      undo.add(() -> environment.follower().unfollow(replica));
    }

    void commit() {
      List<Replica> gone =
          replace.keySet().stream().map(entry -> entry.member().replica()).toList();
      List<Replica> added = new ArrayList<>();
      come.forEach(wanted -> added.add(enter(wanted)));
      replace.values().forEach(wanted -> added.add(enter(wanted)));
      show(); // whoever finds a replica in the fleet may ask how it was described
      environment.fleet().change(gone, added);
      adjust.forEach(Membership.this::adjust);
      leave.forEach(Membership.this::leave);
    }

    FleetChange change(List<Refusal> refused) {
      return new FleetChange(
          come.stream().map(wanted -> wanted.config().name()).toList(),
          leave.stream().map(Entry::name).toList(),
          replace.keySet().stream().map(Entry::name).toList(),
          adjust.keySet().stream().map(Entry::name).toList(),
          refused);
    }
  }

  /** Whether an engine described so and so is one. */
  private static boolean isSameEngine(ReplicaConfig one, ReplicaConfig other) {
    return IN_PLACE.containsAll(Records.differences(one, other));
  }

  /** Whether its events are of another model's blocks now. */
  private boolean isRenamed(Entry known, Wanted wanted) {
    ReplicaConfig config = wanted.config();
    return config.events() != null && !known.model().equals(config.blockModel(onlyModel));
  }

  private Replica enter(Wanted wanted) {
    ReplicaConfig config = wanted.config();
    Replica replica =
        new Replica(
            config.name(),
            config.url(),
            Set.copyOf(config.models()),
            config.ranks(),
            config.firstRank());
    replica.weight(config.weight());
    replica.globalRanks(config.globalRanks());
    replica.draining(drained.contains(config.name()));
    Entry known = entries.get(config.name());
    Map<String, String> addresses =
        connected(known == null ? Map.of() : known.addresses(), wanted.addresses());
    String host = config.url().getHost().toLowerCase(Locale.ROOT);
    environment.follower().entering(replica, config, addresses.get(host));
    Member member = new Member(wanted.source(), wanted.named(), config, replica, false);
    entries.put(config.name(), new Entry(member, config.blockModel(onlyModel), 0, addresses));
    return replica;
  }

  private void adjust(Entry known, Wanted wanted) {
    Replica replica = known.member().replica();
    ReplicaConfig before = known.member().config();
    ReplicaConfig now = wanted.config();
    replica.weight(now.weight());
    if (replica.models().equals(Set.copyOf(before.models()))) {
      replica.models(Set.copyOf(now.models())); // else the engine has told its models itself
    }
    replica.draining(drained.contains(now.name()));
    Member member = new Member(wanted.source(), wanted.named(), now, replica, false);
    entries.put(now.name(), new Entry(member, now.blockModel(onlyModel), 0, known.addresses()));
  }

  private void leave(Entry known) {
    Member member = known.member();
    member.replica().draining(true);
    long patience = TimeUnit.MILLISECONDS.toNanos(environment.drainMillis().getAsLong());
    entries.put(
        known.name(),
        new Entry(
            new Member(member.source(), member.named(), member.config(), member.replica(), true),
            known.model(),
            environment.nanoClock().getAsLong() + patience,
            known.addresses()));
    watch();
  }

  private void watch() {
    if (!watching) {
      watching = true;
      later(this::look, LOOK_MILLIS);
    }
  }

  /** Removes those that leave and are idle, or have had their time. */
  private synchronized void look() {
    watching = false;
    long now = environment.nanoClock().getAsLong();
    List<Entry> leaving =
        entries.values().stream().filter(entry -> entry.member().leaving()).toList();
    for (Entry entry : leaving) {
      boolean late = now - entry.leavesNanos() >= 0;
      if (entry.isIdle() || late) {
        remove(entry);
      } else {
        watch();
      }
    }
    show();
  }

  private void show() {
    Map<Replica, Member> now = new LinkedHashMap<>();
    entries.values().forEach(entry -> now.put(entry.member().replica(), entry.member()));
    members = Collections.unmodifiableMap(now);
  }

  private void remove(Entry entry) {
    Replica replica = entry.member().replica();
    entries.remove(entry.name());
    told.remove(entry.name());
    shownProblems.remove(entry.name());
    drained.remove(entry.name());
    environment.fleet().change(List.of(replica), List.of());
    environment.follower().unfollow(entry.member().config());
    LOG.info("replica {} has left with {} requests in flight", entry.name(), replica.requests());
  }

  /** Closes the kinds of discovery; the fleet changes no more. */
  @Override
  public void close() {
    sources.values().forEach(ReplicaSource::close);
    thread.shutdownNow();
    lookups.shutdownNow();
  }
}
