package dev.warmpath.router;

import dev.warmpath.router.cluster.Cluster;
import dev.warmpath.router.cluster.ClusterLink;
import dev.warmpath.router.cluster.Neighbours;
import dev.warmpath.router.cluster.RouterId;
import dev.warmpath.router.cluster.Rows.ResponseRow;
import dev.warmpath.router.config.ClusterConfig;
import dev.warmpath.router.config.ConfigException;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.config.ReplicaConfig;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.members.FleetChange;
import dev.warmpath.router.members.Member;
import dev.warmpath.router.members.Membership;
import dev.warmpath.router.proxy.StoredResponses;
import dev.warmpath.router.security.ApiKeys;
import dev.warmpath.router.security.ClientAccount;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.security.SecureRandom;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The cluster of a running router: its link, its time, and what it changes here.
 *
 * <p>Thread-safe.
 */
final class ClusterProcess implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(ClusterProcess.class);
  private static final int FILE_THREADS = 3;
  private static final int IDLE_SECONDS = 5;

  /** For the last that the others are told. */
  private static final int SENT_MILLIS = 300;

  /** What could not be done before is tried so often. */
  private static final int AGAIN_SECONDS = 60;

  private final Cluster cluster;
  private final ClusterHost host;
  private final StoredResponses responses;
  private final int deltaMs;
  private final ScheduledExecutorService time;
  private final ClusterLink link;
  private final ExecutorService files;
  private volatile @Nullable Neighbours neighbours;
  private volatile Runnable seed = () -> {};

  private ClusterProcess(
      RouterConfig config,
      Environment environment,
      StoredResponses responses,
      @Nullable ApiKeys keys) {
    ClusterConfig settings = config.cluster();
    RouterId self = new RouterId(name(settings), new SecureRandom().nextLong() >>> 1);
    this.responses = responses;
    this.host = new ClusterHost(responses, keys);
    this.deltaMs = settings.deltaMs();
    this.link = ClusterLink.of(settings, self);
    this.cluster =
        new Cluster(
            self,
            link,
            TimeUnit.MILLISECONDS.toNanos(settings.expireMs()),
            environment.nanoClock(),
            environment.clock()::millis,
            host);
    this.time =
        Executors.newSingleThreadScheduledExecutor(work -> thread("warmpath-cluster", work));
    ThreadPoolExecutor threads =
        new ThreadPoolExecutor(
            FILE_THREADS,
            FILE_THREADS,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(), // one fetch, and as many as the donor serves
            work -> thread("warmpath-cluster-snapshots", work));
    threads.allowCoreThreadTimeOut(true);
    this.files = threads;
  }

  private static Thread thread(String name, Runnable work) {
    Thread thread = new Thread(work, name);
    thread.setDaemon(true);
    return thread;
  }

  /** Null if the router is to be alone. */
  static @Nullable ClusterProcess of(
      RouterConfig config,
      Environment environment,
      StoredResponses responses,
      @Nullable ApiKeys keys) {
    return config.cluster().mode() == ClusterConfig.Mode.OFF
        ? null
        : new ClusterProcess(config, environment, responses, keys);
  }

  private static String name(ClusterConfig settings) {
    String configured = settings.member();
    if (configured != null) {
      return configured;
    }
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      throw new StartException("cluster.member: the machine has no name: " + e.getMessage(), e);
    }
  }

  Cluster cluster() {
    return cluster;
  }

  /**
   * Joins the others; all that they may change is there.
   *
   * @param ready whether this router is ready
   */
  void begin(Core core, BooleanSupplier ready) {
    host.changes(core.membership(), cluster);
    core.onFleetChange(replicas -> host.fleetChanged());
    responses.tell(cluster::made);
    seed = core::awaitProof;
    Neighbours snapshots = core.meetNeighbours(link::send, ready, files);
    neighbours = snapshots;
    cluster.begin(core.dispatcher(), snapshots);
    var unused =
        time.scheduleWithFixedDelay(
            host::fleetChanged, AGAIN_SECONDS, AGAIN_SECONDS, TimeUnit.SECONDS);
    unused = time.scheduleWithFixedDelay(this::tick, deltaMs, deltaMs, TimeUnit.MILLISECONDS);
  }

  private void tick() {
    try {
      cluster.tick();
      seed.run();
    } catch (RuntimeException | Error e) {
      LOG.error("a bug in what is told to other routers", e);
    }
  }

  private void awaitSent() {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(SENT_MILLIS);
    while (link.status().waitingBytes() > 0 && System.nanoTime() - deadline < 0) {
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(2));
    }
  }

  /** Tells how the last requests ended, and leaves. */
  @Override
  public void close() {
    time.shutdown();
    try {
      if (time.awaitTermination(1, TimeUnit.SECONDS) && cluster.hasBegun()) {
        cluster.tellLast();
        awaitSent();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    cluster.close();
    Neighbours snapshots = neighbours;
    if (snapshots != null) {
      snapshots.close();
    }
    files.shutdownNow();
    host.close();
  }

  /**
   * Does here what operators and engines have told another router.
   *
   * <p>Thread-safe. Changes of the fleet may wait for the index's writer, so they have a thread of
   * their own.
   */
  private static final class ClusterHost implements Cluster.Host, AutoCloseable {

    /** Those used last are told to a router that starts. */
    private static final int MOST_RESPONSES = 1 << 14;

    private static final String DRAIN = Cluster.drainSetting("");
    private static final String REPLICA = Cluster.replicaSetting("");

    private final StoredResponses responses;
    private final @Nullable ApiKeys keys;
    private final ThreadPoolExecutor changes;

    /** What was added here for other routers, by name. */
    private final Map<String, String> added = new ConcurrentHashMap<>();

    private volatile @Nullable Membership membership;
    private volatile @Nullable Cluster cluster;

    /**
     * @param keys null without keys
     */
    ClusterHost(StoredResponses responses, @Nullable ApiKeys keys) {
      this.responses = responses;
      this.keys = keys;
      this.changes =
          new ThreadPoolExecutor(
              1,
              1,
              5,
              TimeUnit.SECONDS,
              new LinkedBlockingQueue<>(), // as many as there are names of settings
              work -> {
                Thread thread = new Thread(work, "warmpath-cluster-changes");
                thread.setDaemon(true);
                return thread;
              });
      changes.allowCoreThreadTimeOut(true);
    }

    /** From now on operators' changes are made to this fleet. */
    void changes(Membership fleet, Cluster told) {
      cluster = told;
      membership = fleet;
    }

    @Override
    public void response(String id, String replica, @Nullable String client) {
      responses.heard(id, replica, client);
    }

    @Override
    public Collection<ResponseRow> responses() {
      List<ResponseRow> all = responses.all(ResponseRow::new);
      return all.subList(Math.max(0, all.size() - MOST_RESPONSES), all.size());
    }

    @Override
    public Collection<ClientAccount> clients() {
      return keys == null ? List.of() : keys.clients();
    }

    @Override
    public void setting(String name) {
      change(() -> apply(name));
    }

    /**
     * The fleet has changed, or time has passed: a replica that came may be one that is drained,
     * and one that could not be added may be possible now.
     */
    void fleetChanged() {
      Cluster told = cluster;
      if (told != null && !told.settings().isEmpty()) {
        change(() -> told.settings().keySet().forEach(this::apply));
      }
    }

    private void change(Runnable work) {
      changes.execute(() -> {
        try {
          work.run();
        } catch (RuntimeException e) {
          LOG.error("what an operator told another router cannot be done here", e);
        }
      });
    }

    /** Does what holds now, whatever was said in between. */
    private void apply(String name) {
      Membership fleet = membership;
      Cluster told = cluster;
      if (fleet == null || told == null) {
        return;
      }
      String value = told.setting(name);
      if (name.startsWith(DRAIN)) {
        drain(fleet, name.substring(DRAIN.length()), value != null);
      } else if (name.startsWith(REPLICA)) {
        replica(fleet, name.substring(REPLICA.length()), value);
      } else {
        LOG.warn("another router tells of a setting that is not known here: {}", name);
      }
    }

    private static @Nullable Member member(Membership fleet, String name) {
      return fleet.members().stream()
          .filter(member -> member.config().name().equals(name))
          .findFirst()
          .orElse(null);
    }

    private static void drain(Membership fleet, String replica, boolean drains) {
      Member member = member(fleet, replica);
      if (member != null && drains && !member.drained()) {
        fleet.drain(replica);
      } else if (member != null && !drains && member.drained()) {
        fleet.resume(replica);
      }
    }

    private void replica(Membership fleet, String name, @Nullable String text) {
      Member member = member(fleet, name);
      boolean isHere =
          member != null && member.source().equals(Membership.ADMIN) && !member.leaving();
      if (text == null) {
        if (isHere) {
          fleet.drop(Membership.ADMIN, name);
        }
        return;
      }
      try {
        ReplicaConfig replica = ConfigTree.replica(text, "another router");
        if (isHere && text.equals(added.get(name))) {
          return;
        }
        FleetChange change = fleet.put(Membership.ADMIN, replica);
        added.put(name, text);
        change.refused().stream()
            .filter(refused -> refused.replica().equals(name))
            .forEach(refused ->
                LOG.warn("replica {}, added at another router: {}", name, refused.reason()));
      } catch (ConfigException e) {
        LOG.warn("replica {}, added at another router: {}", name, String.join("; ", e.problems()));
      }
    }

    @Override
    public void close() {
      changes.shutdownNow();
    }
  }
}
