package dev.warmpath.router;

import dev.warmpath.router.cluster.Cluster;
import dev.warmpath.router.cluster.ClusterLink;
import dev.warmpath.router.cluster.Neighbours;
import dev.warmpath.router.cluster.RouterId;
import dev.warmpath.router.config.ClusterConfig;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.proxy.StoredResponses;
import dev.warmpath.router.security.ApiKeys;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.security.SecureRandom;
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
}
