package dev.warmpath.router.observe;

import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.EngineStatus;
import dev.warmpath.eventingest.RingFill;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.eventingest.VisibleTimes;
import dev.warmpath.kvindex.IndexTotals;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.KvIndex.EngineStats;
import dev.warmpath.router.fleet.Fleet;
import dev.warmpath.router.fleet.OtherLoad;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.fleet.dispatch.Dispatcher;
import dev.warmpath.router.fleet.dispatch.ModelPolicies;
import dev.warmpath.router.fleet.engine.EngineReport;
import dev.warmpath.router.fleet.engine.ExpectedBlocks;
import dev.warmpath.router.metrics.Metric;
import dev.warmpath.router.metrics.MetricValues;
import dev.warmpath.router.prompt.PromptPool;
import dev.warmpath.router.proxy.Connections;
import dev.warmpath.router.proxy.ProxyContext;
import dev.warmpath.router.proxy.StoredResponses;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.DoubleSupplier;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Reads the state of the fleet, its engines and their event streams when a scrape asks for it, so
 * that what has left the fleet leaves the metrics too.
 *
 * <p>Thread-safe if its sources are.
 */
public final class FleetCollector {

  /**
   * Where the state is read.
   *
   * @param writerStalledSeconds since the index writer began its last turn
   * @param admission what is being served
   * @param prompts the prompts that wait
   * @param waitingLimit how many may wait
   */
  public record Sources(
      Fleet fleet,
      Dispatcher dispatcher,
      Supplier<List<EngineStatus>> streams,
      VisibleTimes visibleTimes,
      IntSupplier replaysRunning,
      KvIndex index,
      DoubleSupplier writerStalledSeconds,
      ProxyContext.Admission admission,
      PromptPool prompts,
      int waitingLimit) {}

  private final Sources sources;

  public FleetCollector(Sources sources) {
    this.sources = sources;
  }

  public void collect(MetricValues snapshot) {
    admission(snapshot, sources.admission());
    snapshot.add(Metric.QUEUE_REQUESTS, sources.dispatcher().queued());
    snapshot.add(Metric.QUEUE_LIMIT, sources.dispatcher().queueLimit());
    policies(snapshot, sources.dispatcher().policies());
    snapshot.add(Metric.TOKENIZER_WAITING, sources.prompts().waiting());
    snapshot.add(Metric.BODY_SCANS_WAITING, sources.prompts().scansWaiting());
    snapshot.add(Metric.PROMPT_MEMORY_BYTES, sources.prompts().trees().bytes());
    snapshot.add(Metric.PROMPT_MEMORY_MAX_BYTES, sources.prompts().trees().limitBytes());
    snapshot.add(Metric.TOKENIZER_QUEUE_LIMIT, sources.waitingLimit());
    index(snapshot, sources.index().totals());
    double stalled = sources.writerStalledSeconds().getAsDouble();
    snapshot.add(Metric.INDEX_WRITER_STALLED_SECONDS, stalled);
    int most = sources.dispatcher().replicaRequests();
    sources.fleet().replicas().forEach(replica -> replica(snapshot, replica, most));
    snapshot.add(Metric.MODELS_WITHOUT_REPLICA, sources.fleet().modelsWithoutReplica().size());
    sources.dispatcher().report().forEach(report -> engine(snapshot, report));
    snapshot.add(Metric.EVENT_VISIBLE_SECONDS, sources.visibleTimes());
    snapshot.add(Metric.REPLAYS_RUNNING, sources.replaysRunning().getAsInt());
    Set<String> severalRanks = severalRanks();
    for (EngineStatus status : sources.streams().get()) {
      boolean ranked = severalRanks.contains(status.id().replica());
      stream(snapshot, status, name(status.id(), ranked));
    }
  }

  /** Of two of one name the fuller one counts. */
  private static void policies(MetricValues to, ModelPolicies policies) {
    Map<String, Double> shares = new TreeMap<>();
    policies.all().forEach(policy -> shares.merge(policy.name(), policy.memoryShare(), Math::max));
    shares.forEach((name, share) -> to.add(Metric.POLICY_MEMORY_SHARE, share, name));
  }

  private static void admission(MetricValues to, ProxyContext.Admission admission) {
    to.add(Metric.REQUESTS_SERVING, admission.lifecycle().serving());
    to.add(Metric.REQUESTS_LIMIT, admission.lifecycle().limit());
    to.add(Metric.REQUEST_BODIES_BYTES, admission.bodies().bytes());
    to.add(Metric.REQUEST_BODIES_MAX_BYTES, admission.bodies().limitBytes());
    to.add(Metric.HEAP_USED_SHARE, admission.heap().share());
    to.add(Metric.RETRIES_LEFT, admission.retries().left());
    StoredResponses responses = admission.responses();
    to.add(Metric.STORED_RESPONSES, responses.count());
    to.add(Metric.STORED_RESPONSES_LIMIT, responses.limit());
    to.add(Metric.STORED_RESPONSE_LOOKUPS_TOTAL, responses.found(), "found");
    to.add(Metric.STORED_RESPONSE_LOOKUPS_TOTAL, responses.unknown(), "unknown");
    Connections connections = admission.connections();
    to.add(Metric.CONNECTIONS, connections.open());
    to.add(Metric.CONNECTIONS_LIMIT, connections.limit());
    for (Connections.Closed reason : Connections.Closed.values()) {
      to.add(Metric.CONNECTIONS_CLOSED_TOTAL, connections.closed(reason), reason.label());
    }
  }

  private static void index(MetricValues to, IndexTotals totals) {
    to.add(Metric.INDEX_BYTES, totals.bytes());
    to.add(Metric.INDEX_MAX_BYTES, totals.maxBytes());
    to.add(Metric.INDEX_EVICTED_BLOCKS_TOTAL, totals.evictedBlocks());
    to.add(Metric.INDEX_READ_RETRIES_TOTAL, totals.readRetries());
    to.add(Metric.INDEX_UNANSWERED_QUERIES_TOTAL, totals.unansweredQueries());
  }

  private static void replica(MetricValues to, Replica replica, int most) {
    to.add(Metric.REPLICA_UP, is(replica.health() == Replica.Health.UP), replica.name());
    to.add(Metric.REPLICA_DRAINING, is(replica.draining()), replica.name());
    to.add(Metric.REPLICA_REQUESTS, replica.requests(), replica.name());
    to.add(Metric.REPLICA_REQUESTS_LIMIT, Math.min(most, replica.limit()), replica.name());
  }

  private static void engine(MetricValues to, EngineReport report) {
    String engine = report.engine();
    to.add(Metric.ENGINE_EJECTED, is(report.state().ejected()), engine);
    to.add(Metric.ENGINE_REFUSING, is(report.state().refusing()), engine);
    to.add(Metric.ENGINE_REQUESTS_IN_FLIGHT, report.state().load().requestsInFlight(), engine);
    to.add(
        Metric.ENGINE_QUEUED_PREFILL_TOKENS, report.state().load().queuedPrefillTokens(), engine);
    OtherLoad others = report.replica().otherLoad(report.dpRank());
    to.add(Metric.ENGINE_OTHER_REQUESTS, others.running(), engine, "running");
    to.add(Metric.ENGINE_OTHER_REQUESTS, others.waiting(), engine, "waiting");
    ExpectedBlocks.Counts expected = report.state().expectedBlocks();
    to.add(Metric.EXPECTED_BLOCKS, expected.expected(), engine);
    to.add(Metric.EXPECTED_BLOCKS_ENDED_TOTAL, expected.confirmed(), engine, "confirmed");
    to.add(Metric.EXPECTED_BLOCKS_ENDED_TOTAL, expected.expired(), engine, "expired");
    to.add(Metric.EXPECTED_BLOCKS_ENDED_TOTAL, expected.cancelled(), engine, "cancelled");
    to.add(Metric.EXPECTED_BLOCKS_ENDED_TOTAL, expected.dropped(), engine, "dropped");
  }

  private void stream(MetricValues to, EngineStatus status, String engine) {
    for (Trust trust : Trust.values()) {
      String label = trust.name().toLowerCase(Locale.ROOT);
      to.add(Metric.EVENT_TRUST, is(status.trust() == trust), engine, label);
    }
    to.add(Metric.EVENT_TRUST_SINCE_SECONDS, status.since().toEpochMilli() / 1e3, engine);
    to.add(Metric.LAYOUT_MISMATCH, is(status.layoutMismatch() != null), engine);
    to.add(Metric.EVENT_HASH_SCHEME, 1, engine, status.hashScheme());
    to.add(Metric.EVENT_LAG_SECONDS, status.lagSeconds(), engine);
    to.add(Metric.EVENT_SEQUENCE, status.lastSequence(), engine);
    RingFill ring = status.ring();
    to.add(Metric.EVENT_RING_MESSAGES, ring.messages(), engine);
    to.add(Metric.EVENT_RING_BYTES, ring.bytes(), engine);
    to.add(Metric.EVENT_SOCKET_BYTES, status.socketBytes(), engine);
    to.add(Metric.EVENT_RING_SHARE, (double) ring.messages() / ring.maxMessages(), engine);
    to.add(Metric.EVENT_RING_COMMANDS, ring.commands(), engine);
    to.add(Metric.EVENT_BUFFERED_BATCHES, status.bufferedBatches(), engine);
    status
        .counters()
        .forEach((what, count) -> to.add(Metric.EVENT_STREAM_TOTAL, count, engine, what));
    index(to, engine, status.slot());
  }

  private void index(MetricValues to, String engine, int slot) {
    EngineStats held;
    try {
      held = sources.index().stats(slot);
    } catch (IllegalArgumentException e) {
      return; // it left the fleet between two looks
    }
    to.add(Metric.INDEX_BLOCKS, held.heldBlocks(), engine, "held");
    to.add(Metric.INDEX_BLOCKS, held.namedBlocks(), engine, "named");
    to.add(Metric.INDEX_BLOCKS, held.orphanBlocks(), engine, "orphans");
    to.add(Metric.INDEX_BLOCKS, held.suspendedBlocks(), engine, "suspended");
  }

  private Set<String> severalRanks() {
    return sources.fleet().replicas().stream()
        .filter(replica -> replica.ranks() > 1)
        .map(Replica::name)
        .collect(Collectors.toSet());
  }

  /** The engine's name as the dispatcher has it. */
  private static String name(EngineId engine, boolean ranked) {
    return ranked ? engine.replica() + "/" + engine.dpRank() : engine.replica();
  }

  private static double is(boolean holds) {
    return holds ? 1 : 0;
  }
}
