package dev.warmpath.router;

import dev.warmpath.router.auth.ApiKeys;
import dev.warmpath.router.auth.Client;
import dev.warmpath.router.cluster.Cluster;
import dev.warmpath.router.cluster.Rows.ResponseRow;
import dev.warmpath.router.config.ConfigException;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.config.ReplicaConfig;
import dev.warmpath.router.members.FleetChange;
import dev.warmpath.router.members.Membership;
import dev.warmpath.router.proxy.StoredResponses;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Does here what operators and engines have told another router.
 *
 * <p>Thread-safe. Changes of the fleet may wait for the index's writer, so they have a thread of
 * their own.
 */
final class ClusterHost implements Cluster.Host, AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(ClusterHost.class);
  private static final String DRAIN = Cluster.drainSetting("");
  private static final String REPLICA = Cluster.replicaSetting("");

  private final StoredResponses responses;
  private final @Nullable ApiKeys keys;
  private final Set<String> drained = ConcurrentHashMap.newKeySet();
  private final ThreadPoolExecutor changes;
  private volatile @Nullable Membership membership;

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
  void changes(Membership fleet) {
    membership = fleet;
  }

  @Override
  public void response(String id, String replica, @Nullable String client) {
    responses.heard(id, replica, client);
  }

  @Override
  public Collection<ResponseRow> responses() {
    return responses.all(ResponseRow::new);
  }

  @Override
  public Collection<Client> clients() {
    return keys == null ? List.of() : keys.clients();
  }

  @Override
  public void setting(String name, @Nullable String value) {
    Membership fleet = membership;
    if (fleet != null) {
      changes.execute(() -> {
        try {
          apply(fleet, name, value);
        } catch (RuntimeException e) {
          LOG.error("what an operator told another router cannot be done here: {}", name, e);
        }
      });
    }
  }

  private void apply(Membership fleet, String name, @Nullable String value) {
    if (name.startsWith(DRAIN)) {
      drain(fleet, name.substring(DRAIN.length()), value != null);
    } else if (name.startsWith(REPLICA)) {
      replica(fleet, name.substring(REPLICA.length()), value);
    } else {
      LOG.warn("another router tells of a setting that is not known here: {}", name);
    }
  }

  private void drain(Membership fleet, String replica, boolean drains) {
    if (drains) {
      drained.add(replica);
      fleet.drain(replica);
    } else {
      drained.remove(replica);
      fleet.resume(replica);
    }
  }

  private static void replica(Membership fleet, String name, @Nullable String text) {
    if (text == null) {
      fleet.drop(Membership.ADMIN, name);
      return;
    }
    try {
      ReplicaConfig replica = ConfigTree.replica(text, "another router");
      FleetChange change = fleet.put(Membership.ADMIN, replica);
      change.refused().stream()
          .filter(refused -> refused.replica().equals(name))
          .forEach(refused ->
              LOG.warn("replica {}, added at another router: {}", name, refused.reason()));
    } catch (ConfigException e) {
      LOG.warn("replica {}, added at another router: {}", name, String.join("; ", e.problems()));
    }
  }

  /** The fleet has changed: a replica that comes may be one that was drained elsewhere. */
  void fleetChanged(List<ReplicaConfig> replicas) {
    Membership fleet = membership;
    if (fleet != null && !drained.isEmpty()) {
      replicas.stream()
          .map(ReplicaConfig::name)
          .filter(drained::contains)
          .forEach(name -> changes.execute(() -> fleet.drain(name)));
    }
  }

  @Override
  public void close() {
    changes.shutdownNow();
  }
}
