package dev.warmpath.router.members;

import dev.warmpath.router.config.Records;
import dev.warmpath.router.config.ReplicaConfig;
import dev.warmpath.router.fleet.Fleet;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.members.AnnouncedRanks.Described;
import dev.warmpath.router.members.FleetChange.Refusal;
import dev.warmpath.router.members.ReplicaCheck.Verdict;
import dev.warmpath.router.metrics.Metric;
import dev.warmpath.router.metrics.MetricValues;
import java.net.URI;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
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
 * <p>What an engine says of its ranks and events ({@link AnnouncedRanks}) goes over what is
 * configured, as if that had changed.
 *
 * <p>Thread-safe. Changes may wait for the index writer, so they are not for event loops.
 */
public final class Membership implements AutoCloseable, AnnouncedRanks.Listener {

  /*
   * One way for every change, whoever asks for it:
   *
   *   what is said          by sources and engines, as it shall be from now on
   *     → wanted members    of each name that of the first source whose replica is not refused
   *     → events            followed and followed no more; if that fails it is undone, in the
   *                         opposite order, and nothing else has been done
   *     → fleet, members    what cannot fail: replicas come, go, are adjusted or begin to leave
   *
   * Beside it, an operator's drain() and resume() change what one member may get, and those that
   * have left are forgotten (removeThoseThatLeft).
   *
   * What is said is a value. It takes the place of the one before only after the events, so a
   * change that fails leaves nothing behind.
   */

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
   * @param problems that come of it
   */
  private record Told(
      ReplicaConfig asked, AnnouncedRanks sources, Set<String> hosts, List<String> problems) {}

  /**
   * All that the members follow from.
   *
   * <p>Immutable.
   *
   * @param bySource what each source names, those first that come first
   * @param onlyModel whose blocks every replica has that names no model
   * @param byEngine what engines say, by their replicas' names
   */
  private record Said(
      Map<String, List<ReplicaConfig>> bySource, String onlyModel, Map<String, Told> byEngine) {

    /** What the source names but that one. */
    List<ReplicaConfig> without(String source, String name) {
      return bySource.getOrDefault(source, List.of()).stream()
          .filter(replica -> !replica.name().equals(name))
          .toList();
    }

    /** The same with one more source, which names none yet and comes last. */
    Said joinedBy(String source) {
      if (bySource.containsKey(source)) {
        throw new IllegalArgumentException("source=" + source);
      }
      Map<String, List<ReplicaConfig>> next = new LinkedHashMap<>(bySource);
      next.put(source, List.of());
      return new Said(next, onlyModel, byEngine);
    }

    Said naming(String source, List<ReplicaConfig> replicas) {
      Map<String, List<ReplicaConfig>> next = new LinkedHashMap<>(bySource);
      if (next.replace(source, List.copyOf(replicas)) == null) {
        throw new IllegalArgumentException("source=" + source);
      }
      return new Said(next, onlyModel, byEngine);
    }

    Said withOnlyModel(String model) {
      return new Said(bySource, model, byEngine);
    }

    /** The same with what an engine says; with null, without. */
    Said telling(String name, @Nullable Told told) {
      Map<String, Told> next = new HashMap<>(byEngine);
      if (told == null) {
        next.remove(name);
      } else {
        next.put(name, told);
      }
      return new Said(bySource, onlyModel, next);
    }

    /** The replica as its engine describes it, as far as it was asked. */
    ReplicaConfig described(ReplicaConfig named) {
      Told told = byEngine.get(named.name());
      return told == null || !isSameEngine(told.asked(), named)
          ? named
          : told.sources().describe(named, told.hosts()::contains).replica();
    }
  }

  private final Environment environment;
  private final ScheduledExecutorService thread;
  private final ScheduledExecutorService lookups;
  private volatile Said said =
      new Said(Map.of(), "", Map.of()).joinedBy(CONFIGURATION).joinedBy(ADMIN);
  private volatile List<ReplicaSource> sources = List.of();

  /** By name, in the order in which they came; a change puts another map in its place. */
  private volatile Map<String, Member> members = Map.of();

  private volatile List<Refusal> refusals = List.of();

  /** URLs that several replicas have, with the replicas' names. */
  private Map<URI, List<String>> shared = Map.of();

  private boolean watching;

  public Membership(Environment environment) {
    this.environment = environment;
    this.thread = Executors.newSingleThreadScheduledExecutor(environment.threads());
    this.lookups = Executors.newSingleThreadScheduledExecutor(environment.threads());
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
    return sources;
  }

  /**
   * Tells the sources what replicas are worth; does not wait.
   *
   * @param seconds by replica; without those of which that is not known
   */
  public void worth(Map<String, Double> seconds) {
    for (ReplicaSource source : sources) {
      try {
        source.worth(seconds);
      } catch (RuntimeException e) {
        LOG.error("source {}: what replicas are worth could not be told", source.name(), e);
      }
    }
  }

  /** How a replica was described; empty if it has left. */
  public Optional<ReplicaConfig> config(Replica replica) {
    return Optional.ofNullable(member(replica)).map(Member::config);
  }

  private @Nullable Member member(Replica replica) {
    Member member = members.get(replica.name());
    return member != null && member.replica().equals(replica) ? member : null;
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
    addSources(sources);
    sources.forEach(source -> source.start(found -> later(() -> offer(source.name(), found), 0)));
    if (sources.isEmpty() && configured.stream().noneMatch(ReplicaConfig::asksForEvents)) {
      environment.follower().allKnown();
    } else {
      later(environment.follower()::allKnown, FIRST_LOOKS_MILLIS);
    }
  }

  private synchronized void addSources(List<ReplicaSource> found) {
    for (ReplicaSource source : found) {
      said = said.joinedBy(source.name());
    }
    sources = List.copyOf(found);
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
    return apply(said.naming(CONFIGURATION, replicas).withOnlyModel(onlyModel), this::judge);
  }

  /**
   * The source names exactly these replicas from now on. Either all that follows from that is done
   * or, if it throws, nothing.
   *
   * @param replicas with different names
   */
  public synchronized FleetChange offer(String source, List<ReplicaConfig> replicas) {

    return apply(said.naming(source, replicas), this::judge);
  }

  /** The source names one more replica, in the place of one of the same name, unless it may not. */
  public synchronized FleetChange put(String source, ReplicaConfig replica) {
    Verdict verdict = judge(source, replica);
    String refused = verdict.refusal();
    if (refused != null) {
      return FleetChange.refused(new Refusal(source, replica.name(), refused));
    }
    List<ReplicaConfig> replicas = new ArrayList<>(said.without(source, replica.name()));
    replicas.add(replica);
    return apply(said.naming(source, replicas), knowing(source, replica, verdict));
  }

  /** The source names that replica no more. */
  public synchronized FleetChange drop(String source, String name) {
    return offer(source, said.without(source, name));
  }

  /**
   * Gives the replica no new requests until it is resumed, whatever the sources say.
   *
   * @return false if there is none of that name
   */
  public synchronized boolean drain(String name) {
    Member member = members.get(name);
    if (member != null) {
      replace(member.drained(true));
      member.replica().draining(true);
      LOG.info("replica {} drains", name);
    }
    return member != null;
  }

  /**
   * Gives the replica requests again.
   *
   * @return false if there is none of that name, or if it leaves
   */
  public synchronized boolean resume(String name) {
    Member member = members.get(name);
    boolean stays = member != null && !member.leaving();
    if (member != null && stays) {
      replace(member.drained(false));
      member.replica().draining(false);
      LOG.info("replica {} gets requests again", name);
    }
    return stays;
  }

  private void replace(Member now) {
    Map<String, Member> next = new LinkedHashMap<>(members);
    next.put(now.name(), now);
    members = Collections.unmodifiableMap(next);
  }

  /** The one way by which replicas come, change and begin to leave. */
  private FleetChange apply(Said now, ReplicaCheck judge) {
    List<Refusal> refused = new ArrayList<>();
    Map<String, Member> wanted = wanted(now, judge, refused);
    followEvents(wanted.values());
    said = now;
    FleetChange change = commit(wanted, refused);
    publish(change);
    return change;
  }

  /** Of each name the replica of the first source that names one that may be there. */
  private Map<String, Member> wanted(Said now, ReplicaCheck judge, List<Refusal> refused) {
    Map<String, Member> wanted = new LinkedHashMap<>();
    ReplicaCheck first = judge.firstOfName();
    now.bySource()
        .forEach((source, replicas) ->
            replicas.forEach(replica -> {
              Verdict verdict = first.judge(source, replica);
              String reason = verdict.refusal();
              if (reason == null) {
                wanted.put(replica.name(), member(now, source, replica, verdict.addresses()));
              } else {
                refused.add(new Refusal(source, replica.name(), reason));
              }
            }));
    return wanted;
  }

  /** The replica stays the one that there is if its engine does. */
  private Member member(
      Said now, String source, ReplicaConfig named, Map<String, List<String>> allowed) {
    Member known = members.get(named.name());
    ReplicaConfig config = now.described(named);
    String model = config.blockModel(now.onlyModel());
    Map<String, String> before = known == null ? Map.of() : known.addresses();
    Map<String, String> addresses = connected(before, allowed);
    boolean isDrained = known != null && known.drained();
    Replica replica =
        known != null && isSameEngine(known.config(), config) && addresses.equals(before)
            ? known.replica()
            : Member.newReplica(config, isDrained);
    return new Member(source, named, config, model, addresses, replica, isDrained, null);
  }

  /** Whether an engine described so and so is one. */
  private static boolean isSameEngine(ReplicaConfig one, ReplicaConfig other) {
    return IN_PLACE.containsAll(Records.differences(one, other));
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

  /** A replica that is there already was judged when it came, or when its host moved. */
  private Verdict judge(String source, ReplicaConfig replica) {
    Member known = members.get(replica.name());
    if (known == null
        || known.leaving()
        || !known.named().equals(replica)
        || !known.source().equals(source)) {
      return environment.check().judge(source, replica);
    }
    Map<String, List<String>> addresses = new HashMap<>();
    known.addresses().forEach((host, address) -> addresses.put(host, List.of(address)));
    return new Verdict(null, addresses, true);
  }

  /** The same, but for one replica that was judged just now. */
  private ReplicaCheck knowing(String source, ReplicaConfig replica, Verdict verdict) {
    return (named, other) ->
        named.equals(source) && other.equals(replica) ? verdict : judge(named, other);
  }

  /** All of them, or none. */
  private void followEvents(Collection<Member> wanted) {
    Follower follower = environment.follower();
    List<Runnable> undo = new ArrayList<>();
    try {
      for (Member now : wanted) {
        Member before = members.get(now.name());
        if (before != null && before.replica().equals(now.replica()) && !isRenamed(before, now)) {
          continue;
        }
        if (before != null) {
          follower.unfollow(before.config());
          undo.add(() -> follower.follow(before.connected(), before.model()));
        }
        follower.follow(now.connected(), now.model());
        undo.add(() -> follower.unfollow(now.config()));
      }
    } catch (RuntimeException e) {
      Collections.reverse(undo);
      undo.forEach(step -> runEvenSo(step, e));
      throw e;
    }
  }

  private static void runEvenSo(Runnable step, RuntimeException cause) {
    try {
      step.run();
    } catch (RuntimeException e) {
      cause.addSuppressed(e);
    }
  }

  /** Whether its events are of another model's blocks now. */
  private static boolean isRenamed(Member before, Member now) {
    return now.config().events() != null && !before.model().equals(now.model());
  }

  private FleetChange commit(Map<String, Member> wanted, List<Refusal> refused) {
    Map<String, Member> next = new LinkedHashMap<>(members);
    List<Member> come = new ArrayList<>();
    Map<Member, Member> replaced = new LinkedHashMap<>();
    Map<Member, Member> adjusted = new LinkedHashMap<>();
    List<Member> leaving = new ArrayList<>();
    wanted.forEach((name, now) -> {
      Member known = next.put(name, now);
      if (known == null) {
        come.add(now);
      } else if (!known.replica().equals(now.replica())) {
        replaced.put(known, now);
      } else if (isAdjusted(known, now)) {
        adjusted.put(known, now);
      }
    });
    long patience = TimeUnit.MILLISECONDS.toNanos(environment.drainMillis().getAsLong());
    long lateNanos = environment.nanoClock().getAsLong() + patience;
    for (Member known : members.values()) {
      if (!wanted.containsKey(known.name()) && !known.leaving()) {
        next.put(known.name(), known.leavingUntil(lateNanos));
        leaving.add(known);
      }
    }
    FleetChange change =
        new FleetChange(
            names(come),
            names(leaving),
            names(replaced.keySet()),
            names(adjusted.keySet()),
            refused);
    come.addAll(replaced.values());
    come.forEach(member ->
        environment.follower().entering(member.replica(), member.config(), member.address()));
    members = Collections.unmodifiableMap(next); // whoever finds a replica in the fleet may ask
    environment.fleet().change(replicas(replaced.keySet()), replicas(come));
    adjusted.forEach(Membership::adjust);
    if (!leaving.isEmpty()) {
      leaving.forEach(member -> member.replica().draining(true));
      watch();
    }
    return change;
  }

  private static List<String> names(Collection<Member> members) {
    return members.stream().map(Member::name).toList();
  }

  private static List<Replica> replicas(Collection<Member> members) {
    return members.stream().map(Member::replica).toList();
  }

  private static boolean isAdjusted(Member before, Member now) {
    return before.leaving()
        || isRenamed(before, now)
        || !before.config().equals(now.config())
        || !before.source().equals(now.source());
  }

  private static void adjust(Member before, Member now) {
    Replica replica = now.replica();
    replica.weight(now.config().weight());
    if (replica.models().equals(Set.copyOf(before.config().models()))) {
      replica.models(Set.copyOf(now.config().models())); // else its engine has told them
    }
    replica.draining(now.drained());
  }

  private void publish(FleetChange change) {
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
              members.values().stream()
                  .filter(member -> !member.leaving())
                  .map(Member::config)
                  .toList());
      LOG.info(
          "the fleet has {} replicas: added {}, leaving {}, replaced {}, adjusted {}",
          members.size(),
          change.added(),
          change.leaving(),
          change.replaced(),
          change.adjusted());
    }
  }

  /** Two replicas behind one URL are one engine that is given twice the load. */
  private void warnOfSharedUrls() {
    Map<URI, List<String>> names =
        members.values().stream()
            .filter(member -> !member.leaving())
            .collect(
                Collectors.groupingBy(
                    member -> member.config().url(),
                    Collectors.mapping(Member::name, Collectors.toList())));
    names.values().removeIf(sharing -> sharing.size() == 1);
    names.forEach((url, sharing) -> {
      if (!sharing.equals(shared.get(url))) {
        LOG.warn("the replicas {} have one URL, {}: they are one engine", sharing, url);
      }
    });
    shared = names;
  }

  /** One that connects to an endpoint that is bound here knows nothing that matters. */
  @Override
  public boolean wantsRanks(Replica replica) {
    Member member = member(replica);
    return member != null
        && member.named().events() != null
        && !member.named().bind()
        && member.named().dialect().isVllm();
  }

  @Override
  public CompletionStage<Boolean> ranksAnnounced(Replica replica, AnnouncedRanks sources) {
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
  private boolean learn(Replica replica, AnnouncedRanks sources) {
    Member member = member(replica);
    if (member == null || isKnown(member.named(), sources)) {
      return false;
    }
    Set<String> hosts =
        sources.hosts().stream()
            .filter(host -> environment.check().mayFollow(member.named(), host))
            .collect(Collectors.toSet());
    Described described = sources.describe(member.named(), hosts::contains);
    Told now = new Told(member.named(), sources, hosts, described.problems());
    return learn(replica, now, described.replica());
  }

  private synchronized boolean isKnown(ReplicaConfig named, AnnouncedRanks sources) {
    Told known = said.byEngine().get(named.name());
    return known != null && known.sources().equals(sources) && isSameEngine(known.asked(), named);
  }

  private synchronized boolean learn(Replica replica, Told now, ReplicaConfig described) {
    Member member = member(replica);
    if (member == null || member.leaving() || !isSameEngine(member.named(), now.asked())) {
      return false;
    }
    Told before = said.byEngine().get(member.name());
    FleetChange change = apply(said.telling(member.name(), now), this::judge);
    if (now.problems().isEmpty()) {
      logRanks(described);
    } else if (before == null || !now.problems().equals(before.problems())) {
      logProblems(member.name(), now.problems());
    }
    return !change.isEmpty();
  }

  private static void logRanks(ReplicaConfig now) {
    String ranks =
        now.ranks() == 1
            ? "rank " + now.firstRank()
            : "ranks %d to %d".formatted(now.firstRank(), now.firstRank() + now.ranks() - 1);
    LOG.info("replica {}: {}, events at {}", now.name(), ranks, now.eventsOf(0));
  }

  private static void logProblems(String name, List<String> problems) {
    problems.stream()
        .limit(MOST_PROBLEMS)
        .forEach(problem -> LOG.warn("replica {}: its engine {}", name, problem));
    if (problems.size() > MOST_PROBLEMS) {
      LOG.warn("replica {}: {} more of this kind", name, problems.size() - MOST_PROBLEMS);
    }
  }

  /** How the sources stand, and in how many points what engines say is wrong, for a scrape. */
  public void collect(MetricValues to) {
    sources.forEach(source -> source.collect(to));
    Map<String, Told> byEngine = said.byEngine();
    for (Member member : members.values()) {
      Told told = byEngine.get(member.name());
      if (told != null && isSameEngine(told.asked(), member.named())) {
        to.add(Metric.REPLICA_EVENT_PROBLEMS, told.problems().size(), member.name());
      }
    }
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
    for (Member member : members.values()) {
      if (!member.addresses().isEmpty() && !member.leaving()) {
        Verdict now = environment.check().judge(member.source(), member.named());
        boolean moved =
            now.refusal() != null
                || !connected(member.addresses(), now.addresses()).equals(member.addresses());
        if (now.known() && moved) {
          hostMoved(member, now);
        }
      }
    }
  }

  private synchronized void hostMoved(Member member, Verdict now) {
    if (member.equals(members.get(member.name()))) {
      LOG.info("replica {}: its host has moved from {}", member.name(), member.addresses());
      apply(said, knowing(member.source(), member.named(), now));
    }
  }

  private void watch() {
    if (!watching) {
      watching = true;
      later(this::removeThoseThatLeft, LOOK_MILLIS);
    }
  }

  /** Removes those that leave and are idle, or have had their time. */
  private synchronized void removeThoseThatLeft() {
    watching = false;
    long now = environment.nanoClock().getAsLong();
    for (Member member : members.values()) {
      if (member.hasLeft(now)) {
        remove(member);
      } else if (member.leaving()) {
        watch();
      }
    }
  }

  private void remove(Member member) {
    Replica replica = member.replica();
    environment.fleet().change(List.of(replica), List.of());
    environment.follower().unfollow(member.config());
    said = said.telling(member.name(), null);
    Map<String, Member> next = new LinkedHashMap<>(members);
    next.remove(member.name());
    members = Collections.unmodifiableMap(next);
    LOG.info("replica {} has left with {} requests in flight", member.name(), replica.requests());
  }

  /** Closes the kinds of discovery; the fleet changes no more. */
  @Override
  public void close() {
    sources.forEach(ReplicaSource::close);
    thread.shutdownNow();
    lookups.shutdownNow();
  }
}
