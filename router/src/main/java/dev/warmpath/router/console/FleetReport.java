package dev.warmpath.router.console;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.EngineStatus;
import dev.warmpath.kvindex.IndexTotals;
import dev.warmpath.kvindex.KvIndex.EngineStats;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.router.config.FileWatch.WatchedFile;
import dev.warmpath.router.console.Totals.HitRates;
import dev.warmpath.router.dispatch.Prewarming;
import dev.warmpath.router.fleet.CacheWorth;
import dev.warmpath.router.fleet.EngineEvents;
import dev.warmpath.router.fleet.EngineReport;
import dev.warmpath.router.fleet.EngineState;
import dev.warmpath.router.fleet.ExpectedBlocks;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.fleet.ReportedLoad;
import dev.warmpath.router.fleet.Store;
import dev.warmpath.router.members.Member;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The answer of {@code GET /admin/fleet}: every replica, its engines, and how their event streams
 * and their part of the index stand.
 *
 * <p>Confined to the asking thread.
 */
final class FleetReport {

  private static final ObjectMapper JSON = new ObjectMapper();

  /** Ages of blocks, and how long ago they were used then. */
  private static final Map<String, Long> KEPT_AGES =
      new TreeMap<>(
          Map.of(
              "minute", TimeUnit.MINUTES.toNanos(1),
              "hour", TimeUnit.HOURS.toNanos(1),
              "day", TimeUnit.DAYS.toNanos(1)));

  private final AdminContext admin;
  private final boolean isLive;
  private final Map<EngineId, EngineStatus> streams;
  private final Map<Replica, Member> members;

  private FleetReport(AdminContext admin, boolean isLive) {
    this.admin = admin;
    this.isLive = isLive;
    this.streams =
        admin.streams().get().stream()
            .collect(Collectors.toMap(EngineStatus::id, Function.identity()));
    this.members =
        admin.membership().members().stream()
            .collect(Collectors.toMap(Member::replica, Function.identity(), (one, same) -> one));
  }

  static ObjectNode of(AdminContext admin) {
    return new FleetReport(admin, false).report();
  }

  /** The same for the console's stream, without counters of events that are 0: half as long. */
  static ObjectNode live(AdminContext admin) {
    return new FleetReport(admin, true).report();
  }

  private static void index(ObjectNode to, IndexTotals totals) {
    to.put("bytes", totals.bytes())
        .put("maxBytes", totals.maxBytes())
        .put("evictedBlocks", totals.evictedBlocks())
        .put("readRetries", totals.readRetries())
        .put("unansweredQueries", totals.unansweredQueries());
  }

  private ObjectNode report() {
    ObjectNode root = JSON.createObjectNode();
    root.put("policy", admin.dispatcher().policy().name());
    root.put("stage", lower(admin.lifecycle().stage()));
    root.put("requestsServing", admin.lifecycle().serving());
    root.put("promptsWaiting", admin.prompts().waiting());
    ArrayNode unwell = root.putArray("modelsWithoutReplica");
    admin.fleet().modelsWithoutReplica().forEach(unwell::add);
    index(root.putObject("index"), admin.index().totals());
    ArrayNode stale = root.putArray("staleFiles");
    admin.files().get().stream()
        .filter(WatchedFile::stale)
        .forEach(file -> stale.addObject().put("file", file.name()).put("problem", file.problem()));
    Map<Replica, ArrayNode> engines = new HashMap<>();
    ArrayNode replicas = root.putArray("replicas");
    admin
        .fleet()
        .replicas()
        .forEach(replica -> engines.put(replica, replica(replicas.addObject(), replica)));
    ArrayNode stores = root.putArray("stores");
    admin.dispatcher().engineEvents().stores().forEach(store -> store(stores.addObject(), store));
    for (EngineReport report : admin.dispatcher().report()) {
      ArrayNode list = engines.get(report.replica());
      if (list != null) {
        engine(list.addObject(), report);
      }
    }
    return root;
  }

  private void store(ObjectNode to, Store store) {
    EngineEvents events = admin.dispatcher().engineEvents();
    EngineEvents.StoreBlocks blocks = events.blocks(store);
    EngineStatus stream = streams.get(store.rules().id());
    to.put("name", store.name());
    to.put("medium", store.rules().medium());
    to.put("publishes", store.rules().publishes());
    to.put("trust", store.dropsUnheard() || stream == null ? "by_age" : lower(stream.trust()));
    to.put("reason", stream == null ? null : stream.reason());
    to.put("silent", store.isSilent(System.nanoTime()));
    to.put("blocks", blocks.held());
    to.put("named", blocks.named());
    to.put("nameless", blocks.nameless());
    ArrayNode readers = to.putArray("readers");
    admin.fleet().replicas().stream()
        .filter(replica -> events.store(replica) == store)
        .forEach(replica -> readers.add(replica.name()));
    ObjectNode kept = to.putObject("kept");
    KEPT_AGES.forEach((age, nanos) -> number(kept, age, store.chance(nanos)));
    long[] tokens = store.tokens();
    to.putObject("tokens")
        .put("held", tokens[0])
        .put("credited", tokens[1])
        .put("served", tokens[2]);
  }

  private ArrayNode replica(ObjectNode to, Replica replica) {
    to.put("name", replica.name());
    to.put("url", replica.baseUrl().toString());
    to.put("health", lower(replica.health()));
    to.put("asleep", replica.asleep());
    to.put("stuck", replica.isStuck());
    to.put("problem", replica.problem());
    to.put("checkProblem", replica.checkProblem());
    to.put("draining", replica.draining());
    to.put("role", lower(replica.transfer().role()));
    to.put("kvConnector", lower(replica.transfer().connector()).replace('_', '-'));
    to.put("weight", replica.weight());
    to.put("gpuBlocks", replica.gpuBlocks());
    Member member = members.get(replica);
    to.put("leaving", member != null && member.leaving());
    to.put("source", member == null ? null : member.source());
    ArrayNode models = to.putArray("models");
    replica.models().stream().sorted().forEach(models::add);
    return to.putArray("engines");
  }

  private void engine(ObjectNode to, EngineReport report) {
    to.put("engine", report.engine());
    to.put("dpRank", report.dpRank());
    to.put("requestsInFlight", report.state().load().requestsInFlight());
    to.put("queuedPrefillTokens", report.state().load().queuedPrefillTokens());
    to.put("plannedPrefillTokens", report.state().plannedTokens());
    to.put("handedOver", report.handedOver());
    to.put("ejected", report.state().ejected());
    to.put("circuit", lower(report.state().circuit()));
    to.put("problem", report.state().problem());
    ReportedLoad load = report.replica().reportedLoad(report.dpRank());
    number(to, "requestsRunning", load.running());
    number(to, "requestsWaiting", load.waiting());
    number(to, "kvUse", load.kvUse());
    HitRates rates = admin.console().rates(report.engine());
    number(to, "hitRate", rates.hitRate());
    number(to, "predictionError", rates.predictionError());
    to.putObject("prefill")
        .put("millisPerToken", report.state().prefillCost().millisPerToken())
        .put("millisPerTokenPair", report.state().prefillCost().millisPerTokenPair())
        .put("samples", report.state().prefillSamples());
    to.putObject("decode")
        .put("stepMillis", report.state().decodeCost().stepMillis())
        .put("contextMillis", report.state().decodeCost().contextMillis())
        .put("samples", report.state().decodeSamples());
    worth(to, report.worth());
    EngineState engine = admin.dispatcher().engine(report.engine());
    prewarm(to, engine == null ? null : admin.prewarming().status(engine));
    expected(to.putObject("expectedBlocks"), report.state().expectedBlocks());
    EngineStatus stream = streams.get(new EngineId(report.replica().name(), report.dpRank()));
    if (stream == null) {
      to.putNull("events");
    } else {
      events(to.putObject("events"), stream);
      index(to, stream.slot());
    }
  }

  private static void worth(ObjectNode to, @Nullable CacheWorth worth) {
    if (worth == null) {
      to.putNull("worth");
      return;
    }
    to.putObject("worth")
        .put("soleTokens", worth.soleTokens())
        .put("reuseChance", worth.reuseChance())
        .put("seconds", worth.seconds());
  }

  static void prewarm(ObjectNode to, Prewarming.@Nullable Status status) {
    if (status == null) {
      to.putNull("prewarm");
      return;
    }
    to.putObject("prewarm")
        .put("state", status.state().label())
        .put("prefixes", status.prefixes())
        .put("tooLong", status.tooLong())
        .put("computed", status.computed())
        .put("tokens", status.tokens())
        .put("millis", status.millis())
        .put("problem", status.problem());
  }

  /** Null for NaN; whole numbers without a point. */
  private static void number(ObjectNode to, String name, double value) {
    if (Double.isNaN(value)) {
      to.putNull(name);
    } else if (value == Math.rint(value)) {
      to.put(name, (long) value);
    } else {
      to.put(name, value);
    }
  }

  private static void expected(ObjectNode to, ExpectedBlocks.Counts counts) {
    to.put("now", counts.expected());
    to.put("confirmed", counts.confirmed());
    to.put("expired", counts.expired());
    to.put("cancelled", counts.cancelled());
    to.put("dropped", counts.dropped());
  }

  private void events(ObjectNode to, EngineStatus stream) {
    to.put("trust", lower(stream.trust()));
    to.put("reason", stream.reason());
    to.put("since", stream.since().toString());
    to.put("lastSequence", stream.lastSequence());
    to.put("lagSeconds", stream.lagSeconds());
    to.putObject("ring")
        .put("messages", stream.ring().messages())
        .put("bytes", stream.ring().bytes())
        .put("commands", stream.ring().commands())
        .put("maxMessages", stream.ring().maxMessages());
    to.put("bufferedBatches", stream.bufferedBatches());
    space(to, stream.space());
    to.put("layoutMismatch", stream.layoutMismatch());
    to.put("hashScheme", stream.hashScheme());
    ObjectNode counters = to.putObject("counters");
    Map<String, Long> shown = new TreeMap<>();
    stream
        .counters()
        .forEach((name, count) -> {
          if (!isLive || count != 0) {
            shown.put(name, count);
          }
        });
    shown.forEach(counters::put);
  }

  private static void space(ObjectNode to, @Nullable ChainSpace space) {
    if (space == null) {
      to.putNull("blockSizeTokens");
    } else {
      to.put("blockSizeTokens", space.blockSizeTokens());
      to.put("lookaheadTokens", space.lookaheadTokens());
    }
  }

  private void index(ObjectNode to, int slot) {
    EngineStats stats;
    try {
      stats = admin.index().stats(slot);
    } catch (IllegalArgumentException e) {
      to.putNull("index"); // it left the fleet between two looks
      return;
    }
    to.putObject("index")
        .put("heldBlocks", stats.heldBlocks())
        .put("namedBlocks", stats.namedBlocks())
        .put("orphanBlocks", stats.orphanBlocks())
        .put("suspendedBlocks", stats.suspendedBlocks())
        .put("orphansDropped", stats.orphansDropped())
        .put("unknownRemovals", stats.unknownRemovals())
        .put("contradictions", stats.contradictions());
  }

  private static String lower(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }
}
