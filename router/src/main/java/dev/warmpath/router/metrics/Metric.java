package dev.warmpath.router.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.search.Search;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Every metric of Warmpath's own, under the name that a scrape shows. The documentation page is
 * held to this list.
 *
 * <p>Immutable.
 */
public enum Metric {
  BUILD_INFO(Type.GAUGE, "1; version and Java.", "version", "java"),
  REQUESTS_TOTAL(
      Type.COUNTER, "Ended requests, refused ones included.", "path", "status", "ending"),
  REQUEST_DURATION_SECONDS(Type.HISTOGRAM, "Request head to last byte of the response.", "path"),
  FIRST_BYTE_SECONDS(
      Type.HISTOGRAM,
      "Request head to first byte of a good response; comments of a stream (keep-alives of engines"
          + " or of the router) are none.",
      "replica"),
  ROUTING_SECONDS(
      Type.HISTOGRAM, "Router's own time: request's last byte to dispatch, without queueing."),
  INTER_TOKEN_SECONDS(Type.HISTOGRAM, "Between two chunks of a streamed answer.", "replica"),
  REQUESTS_SERVING(Type.GAUGE, "Requests being served."),
  REQUESTS_LIMIT(Type.GAUGE, "Max requests served at a time."),
  STORED_RESPONSES(Type.GAUGE, "Stored responses whose replica is remembered."),
  STORED_RESPONSES_LIMIT(Type.GAUGE, "Max remembered responses; the oldest give way."),
  STORED_RESPONSE_LOOKUPS_TOTAL(
      Type.COUNTER, "Requests naming an earlier response: replica found, or unknown.", "result"),
  RETRIES_LEFT(Type.GAUGE, "Retries the budget allows now."),
  QUEUE_REQUESTS(Type.GAUGE, "Requests waiting for a replica."),
  QUEUE_HELD_REQUESTS(
      Type.GAUGE, "Queued requests held because they would evict what others need sooner."),
  QUEUE_LIMIT(Type.GAUGE, "Max requests waiting for a replica with room."),
  QUEUE_WAIT_SECONDS(Type.HISTOGRAM, "Request head to leaving the queue, of requests that waited."),
  REQUEST_BODIES_BYTES(Type.GAUGE, "Request body bytes whose responses have not begun."),
  REQUEST_BODIES_MAX_BYTES(Type.GAUGE, "Max request body bytes held."),
  HEAP_USED_SHARE(
      Type.GAUGE,
      "Used share of the Java heap after the last collection; from 0.9 on requests are refused."),
  PROMPT_MEMORY_BYTES(
      Type.GAUGE, "Heap of prompts being read: JSON, texts and tokens, as counted beforehand."),
  PROMPT_MEMORY_MAX_BYTES(
      Type.GAUGE, "Max of it; prompts without room are routed by load (fallback `no_memory`)."),
  CONNECTIONS(Type.GAUGE, "Open client connections, from their acceptance on."),
  CONNECTIONS_LIMIT(Type.GAUGE, "Max client connections."),
  CONNECTIONS_CLOSED_TOTAL(
      Type.COUNTER,
      "Client connections closed: limit (too many), idle (no request in time), broken (reset by the"
          + " client, left before it was read, or unreadable), resets (too many requests taken back).",
      "reason"),
  PICKER_STREAMS(Type.GAUGE, "Open streams of gateways that ask for endpoints; a request each."),
  PICKER_PICKS_TOTAL(
      Type.COUNTER,
      "Requests of gateways: picked, refused (answered at once), left (by their clients, before);"
          + " moved: picked, and answered by another endpoint of the list.",
      "result"),
  PICKER_IMMEDIATE_RESPONSES_TOTAL(
      Type.COUNTER, "Requests of gateways that were answered at once.", "code"),
  PICKER_PROTOCOL_ERRORS_TOTAL(
      Type.COUNTER,
      "Messages of gateways: malformed, unknown_message, piece_after_end (ignored), body_mode (one"
          + " that cannot be served).",
      "reason"),
  REJECTED_TOTAL(Type.COUNTER, "Errors answered by the router itself.", "code"),
  RETRIES_TOTAL(Type.COUNTER, "Retries at another replica.", "cause"),
  SPLIT_REQUESTS_TOTAL(
      Type.COUNTER,
      "Prompts computed for another engine to answer: handed_over, not_loaded (of these), no_handoff"
          + " (nothing came to hand over), refused, failed; or not though one could: no_room (for"
          + " both bodies), alone (2048 tokens or more were not cached at the engine that serves it).",
      "result"),
  SPLIT_PAIRS_TOTAL(
      Type.COUNTER,
      "The same of each engine: of its tries as leg `prefill`, and as leg `decode`.",
      "engine",
      "leg",
      "result"),
  SPLIT_TOKENS_TOTAL(
      Type.COUNTER,
      "Prompt tokens of split requests: computed, cached (both as prefills report), received (what"
          + " the decode's index lacked).",
      "kind"),
  EVICTIONS_TOTAL(
      Type.COUNTER, "Requests in flight that were ended for waiting ones of higher priority."),
  ADVISED_PREFILL_RATIO(
      Type.GAUGE,
      "Prefills that one decode needs: engine time of the last hour's uncached prompt tokens against"
          + " that of its answers in full engines. From 50 requests on, of fleets with pairs.",
      "model"),
  SLOW_TIER_TOKENS_TOTAL(
      Type.COUNTER,
      "Prompt tokens that only the engine's slower memory held when it was chosen: loaded (it reads"
          + " them back), computed (it was told to compute them again). That it had to get from"
          + " another engine: pulled; missed (of these, what did not come).",
      "engine",
      "result"),
  STORE_BLOCKS(Type.GAUGE, "Blocks that a store which several engines read holds.", "store"),
  STORE_SILENT(
      Type.GAUGE,
      "1 while the events of such a store have said nothing for a minute, although its readers say"
          + " that they fill it, or get from it what it was not known to hold.",
      "store"),
  STORE_NAMES_TOTAL(
      Type.COUNTER,
      "Blocks that such a store was said to hold: named (an engine has told what they are) or"
          + " nameless (none has in time: not credited).",
      "store",
      "result"),
  STORE_TOKENS_TOTAL(
      Type.COUNTER,
      "Prompt tokens that only such a store held when an engine was chosen: held (by the index),"
          + " credited (counted on), served (not computed, as the engine reports).",
      "store",
      "result"),
  SPLIT_LEG_SECONDS(
      Type.HISTOGRAM,
      "Leg prefill: sent to answered. Leg decode: from then, or its own start, to a stream's first"
          + " token: the transfer.",
      "leg"),
  FALLBACKS_TOTAL(Type.COUNTER, "Requests routed without knowing their prompt.", "cause"),
  ASSIGNMENTS_TOTAL(Type.COUNTER, "Requests given to an engine.", "engine", "policy", "reason"),
  UNASSIGNED_TOTAL(Type.COUNTER, "Requests no replica could take.", "cause"),
  OUTCOMES_TOTAL(Type.COUNTER, "Requests ended at an engine, by outcome.", "engine", "outcome"),
  PROMPT_TOKENS_TOTAL(
      Type.COUNTER,
      "Prompt tokens reported by engines; model `other`: not named by the replica.",
      "model",
      "engine"),
  CACHED_TOKENS_TOTAL(
      Type.COUNTER,
      "Cached prompt tokens reported by engines. Divided by `prompt_tokens_total`: hit rate.",
      "model",
      "engine"),
  ANSWER_TOKENS_TOTAL(Type.COUNTER, "Answer tokens reported by engines.", "model", "engine"),
  PREDICTIONS_TOTAL(
      Type.COUNTER,
      "Predicted against reported cached tokens: exact, over, under.",
      "engine",
      "result"),
  PREDICTED_TOKENS_TOTAL(
      Type.COUNTER,
      "Tokens: hit (predicted and cached), over (predicted only), under (cached only).",
      "engine",
      "result"),
  UNCACHED_TOKENS_TOTAL(
      Type.COUNTER,
      "Prompt tokens that engines computed, of requests with a prediction, by why they were not"
          + " cached: new (not known to have been held), evicted (held once), elsewhere (held where"
          + " the request was not sent, or in memory that was not read), lost (to a restart, a"
          + " reset, lost events or a replica that left), mispredicted.",
      "model",
      "cause"),
  PROMPT_HISTORY_SHARE(
      Type.GAUGE, "Taken share of the memory of computed prompts, 0 to 1; full is no harm."),
  PREWARM_REQUESTS_TOTAL(
      Type.COUNTER,
      "Shared prefixes that an engine was asked to compute, by result: computed, broken_off (a"
          + " request came), busy (429 or 503), refused (by the engine), failed. Among requests they"
          + " count only as in flight and queued.",
      "engine",
      "result"),
  PREWARM_TOKENS_TOTAL(
      Type.COUNTER, "Tokens that an engine really computed of shared prefixes.", "engine"),
  PREFIX_TOKENS_SHARE(
      Type.GAUGE, "Taken share of the memory of shared prefixes' tokens, 0 to 1; full is no harm."),
  PREDICTION_ERROR_TOKENS(
      Type.HISTOGRAM, "Predicted minus reported cached tokens of a request.", "engine"),
  PROMPT_MISCOUNTS_TOTAL(
      Type.COUNTER, "Prompts whose length the engine counts differently: alarm.", "engine"),
  PROMPTS_READ_TOTAL(
      Type.COUNTER,
      "Prompts read, by where: event_loop (short, no hand-over), pool, handed_over (begun on an"
          + " event loop, ended by the pool).",
      "where"),
  TOKENIZER_WAITING(Type.GAUGE, "Prompts waiting for a tokenizer thread."),
  TOKENIZER_QUEUE_LIMIT(Type.GAUGE, "Max prompts waiting for a tokenizer thread."),
  BODY_SCANS_WAITING(
      Type.GAUGE,
      "Bodies waiting to be decoded, or scanned without their prompt; same limit as prompts."),
  TOKENIZER_READY(Type.GAUGE, "1 when the tokenizer is loaded.", "model"),
  TOKENIZER_LOAD_FAILURES_TOTAL(Type.COUNTER, "Failed attempts to load the tokenizer.", "model"),
  TOKENIZER_DOWNLOADED_BYTES(Type.GAUGE, "Bytes of the model's files present.", "model"),
  TOKENIZER_DOWNLOAD_SIZE_BYTES(
      Type.GAUGE, "Bytes of the model's files; 0: nothing to download.", "model"),
  TOKENIZER_DOWNLOAD_RETRIES_TOTAL(Type.COUNTER, "Retried requests to the hub.", "model"),
  TOKENIZER_QUARANTINED(
      Type.GAUGE,
      "1 when an engine tokenizes differently, so prompts are routed by load: alarm.",
      "model"),
  TOKENS_TOTAL(
      Type.COUNTER,
      "Prompt tokens by source: prefix, chunk, word (all cached), native.",
      "model",
      "source"),
  TOKENIZER_MEMORY_BYTES(
      Type.GAUGE,
      "Cached text bytes by layer: prefix, chunk, word; image, image_learned.",
      "model",
      "layer"),
  TOKENIZER_MEMORY_MAX_BYTES(Type.GAUGE, "Max cached text bytes, by layer.", "model", "layer"),
  TOKENIZER_EVICTIONS_TOTAL(Type.COUNTER, "Cached texts dropped for newer ones.", "model", "layer"),
  IMAGE_LESSONS_TOTAL(
      Type.COUNTER,
      "What engines showed of images: learned, contradicted, doubted, confirmed, evicted.",
      "model",
      "result"),
  BODY_BYTES_TOTAL(
      Type.COUNTER,
      "Request body bytes by source: memory (began like an earlier body), parsed.",
      "source"),
  BODY_MEMORY_BYTES(Type.GAUGE, "Cached body bytes."),
  BODY_MEMORY_MAX_BYTES(Type.GAUGE, "Max cached body bytes."),
  BODY_EVICTIONS_TOTAL(Type.COUNTER, "Cached bodies dropped for newer ones."),
  PARITY_CHECKS_TOTAL(
      Type.COUNTER,
      "Prompts compared with an engine's tokens: equal, different (alarm), unconfirmed, unknown,"
          + " unavailable, error, skipped.",
      "model",
      "result"),
  PARITY_BODIES_SHARE(Type.GAUGE, "Used share of the room for bodies to compare."),
  REMOTE_PROMPTS_TOTAL(
      Type.COUNTER,
      "Prompts requested from engines: source render, tokenize, memory; outcome ok, not_offered,"
          + " not_usable, timeout, error, open_circuit.",
      "source",
      "outcome"),
  REMOTE_MEMORY_SHARE(Type.GAUGE, "Used share of the room for prompts rendered by engines."),
  POLICY_MEMORY_SHARE(
      Type.GAUGE, "Used share of the policy's memory; at 1 the oldest gives way.", "policy"),
  REPLICA_UP(Type.GAUGE, "1 when the replica passes health checks.", "replica"),
  MODELS_WITHOUT_REPLICA(
      Type.GAUGE, "Models none of whose replicas is well: requests go to the least bad ones."),
  REPLICA_STUCK(
      Type.GAUGE,
      "1 while requests wait there and nothing moves, though its health check may pass.",
      "replica"),
  REPLICA_UNPAIRED(
      Type.GAUGE,
      "Of a prefill or decode: 1 while no replica of its model has its kv-connector, kv-group and"
          + " block size, so that no request is split over it.",
      "replica"),
  REPLICA_EVENT_PROBLEMS(
      Type.GAUGE,
      "Points in which what the engine says of its ranks and events differs from the configuration"
          + " or cannot be followed; see the log.",
      "replica"),
  REPLICA_DRAINING(Type.GAUGE, "1 when the replica gets no new requests.", "replica"),
  REPLICA_REQUESTS(Type.GAUGE, "Requests in flight, all ranks.", "replica"),
  REPLICA_REQUESTS_LIMIT(
      Type.GAUGE,
      "Max requests in flight: configured, or learned from its waiting requests.",
      "replica"),
  REPLICA_RECEIVED_TOKENS_TOTAL(
      Type.COUNTER,
      "Prompt tokens whose KV cache any connector has loaded, by the replica's own metrics (vLLM):"
          + " from another engine, from host memory (OffloadingConnector) or from a store.",
      "replica"),
  REPLICA_EXPIRED_TRANSFERS_TOTAL(
      Type.COUNTER,
      "Prompts computed for others that nobody fetched in time, by the replica's own metrics (vLLM,"
          + " NIXL).",
      "replica"),
  DISCOVERY_AGE_SECONDS(Type.GAUGE, "Since the last good poll, or the source's start.", "source"),
  DISCOVERY_FAILURES_TOTAL(Type.COUNTER, "Failed polls; known replicas stay.", "source"),
  DISCOVERY_REPLICAS(Type.GAUGE, "Replicas found by the last good poll.", "source"),
  DISCOVERY_REFUSED(
      Type.GAUGE, "Addresses of the last good poll that make no replica; see the log.", "source"),
  ENGINE_EJECTED(
      Type.GAUGE, "1 while the engine is ejected for failing several requests in a row.", "engine"),
  ENGINE_REFUSING(
      Type.GAUGE,
      "1 while the engine is ejected for answering every request with 503, as paused or retired"
          + " ones do.",
      "engine"),
  ENGINE_REQUESTS_IN_FLIGHT(Type.GAUGE, "Requests from dispatch to last byte.", "engine"),
  ENGINE_SOLE_TOKENS(
      Type.GAUGE,
      "Tokens that no other engine holds, nor a shared store; once in ten seconds;"
          + " absent while its events are not exact.",
      "engine"),
  ENGINE_WORTH_SECONDS(
      Type.GAUGE,
      "What would be lost with the engine: the time to compute its sole tokens, weighed by their"
          + " chance of reuse; absent while its events are not exact.",
      "engine"),
  HIT_RATE_CHANGE(
      Type.GAUGE,
      "By how much the share of prompt tokens that are cached would rise with one replica more, or"
          + " fall with one fewer (negative), from the ages at which prompts return. While the"
          + " policy is warm.",
      "model",
      "replicas"),
  KNEE_HEADROOM(
      Type.GAUGE,
      "The share that is still free of the load at which first tokens take four times as long as in"
          + " an idle fleet; below 0 beyond. From the time that prompts of the last minutes take, of"
          + " all routers of the cluster; absent before the first.",
      "model"),
  ENGINE_QUEUED_SECONDS(
      Type.GAUGE,
      "Time that the engine needs for dispatched prompts not known to be computed, at its learned"
          + " speed.",
      "engine"),
  ENGINE_STEP_SECONDS(
      Type.GAUGE,
      "Time of a step that only decodes, with the contexts now in flight, as learned from streams;"
          + " absent until one taught it.",
      "engine"),
  ENGINE_OTHER_REQUESTS(
      Type.GAUGE,
      "Requests of other clients and routers, by the engine's metrics: running, waiting.",
      "engine",
      "state"),
  ENGINE_QUEUED_PREFILL_TOKENS(
      Type.GAUGE, "Dispatched prompt tokens not known to be computed.", "engine"),
  EXPECTED_BLOCKS(Type.GAUGE, "Blocks of dispatched prompts not confirmed by events.", "engine"),
  EXPECTED_BLOCKS_ENDED_TOTAL(
      Type.COUNTER,
      "Expected blocks that ended: confirmed, expired, cancelled, dropped.",
      "engine",
      "result"),
  INDEX_BLOCKS(
      Type.GAUGE,
      "Blocks in the index: held, named (of these), orphans (waiting), suspended (not credited).",
      "engine",
      "state"),
  INDEX_BYTES(Type.GAUGE, "Index size."),
  INDEX_MAX_BYTES(Type.GAUGE, "Max index size."),
  INDEX_EVICTED_BLOCKS_TOTAL(Type.COUNTER, "Held blocks dropped for lack of room."),
  INDEX_READ_RETRIES_TOTAL(Type.COUNTER, "Lookups retried after a concurrent write."),
  INDEX_UNANSWERED_QUERIES_TOTAL(
      Type.COUNTER, "Queries that gave up retrying and credited no engine."),
  INDEX_WRITER_STALLED_SECONDS(
      Type.GAUGE, "Since the index writer's last turn; above 1 it is busy, stuck or dead: alarm."),
  EVENT_TRUST(Type.GAUGE, "1 for the present trust in the engine's events.", "engine", "trust"),
  EVENT_TRUST_SINCE_SECONDS(
      Type.GAUGE, "Unix time of the last change of trust or reason.", "engine"),
  EVENT_VISIBLE_SECONDS(
      Type.HISTOGRAM,
      "Batch's arrival at the socket to visibility in the index, replays included."),
  LAYOUT_MISMATCH(
      Type.GAUGE, "1 when the engine's blocks differ from others of its model: alarm.", "engine"),
  EVENT_HASH_SCHEME(
      Type.GAUGE, "1 for the engine's hash scheme, or `unknown`.", "engine", "scheme"),
  EVENT_IMAGE_FORM(
      Type.GAUGE, "1 for how the engine names images, once that is known.", "engine", "form"),
  EVENT_IMAGE_WAITS(
      Type.GAUGE,
      "What waits for the engine to store images: name (max 4096), chat, chat whose images are unread (max 1024 each).",
      "engine",
      "kind"),
  EVENT_IMAGE_BYTES(
      Type.GAUGE,
      "Memory of the chats that wait for the engine to store images; max 4 MiB.",
      "engine"),
  EVENT_LAG_SECONDS(
      Type.GAUGE,
      "Arrival to visibility of the last live batch; during a repair, since it began.",
      "engine"),
  EVENT_SEQUENCE(Type.GAUGE, "Sequence number of the last batch applied.", "engine"),
  EVENT_RING_MESSAGES(Type.GAUGE, "Messages waiting between socket and index.", "engine"),
  EVENT_RING_BYTES(Type.GAUGE, "Message bytes waiting between socket and index.", "engine"),
  EVENT_SOCKET_BYTES(
      Type.GAUGE,
      "Bytes waiting in the engine's live socket; at twice ingest.ring-bytes more are refused.",
      "engine"),
  EVENT_RING_SHARE(
      Type.GAUGE,
      "Used share of the room between socket and index; at 1 more are refused.",
      "engine"),
  EVENT_RING_COMMANDS(
      Type.GAUGE,
      "State changes waiting between socket and index: connections, replays, metrics, requests.",
      "engine"),
  EVENT_BUFFERED_BATCHES(
      Type.GAUGE, "Live batches waiting for a replay's end; max 16384.", "engine"),
  REPLAYS_RUNNING(Type.GAUGE, "Replays running; max 8 repairs and 4 checks."),
  EVENT_STREAM_TOTAL(Type.COUNTER, "Events of the stream, see below.", "engine", "event"),
  CONFIG_RELOADS_TOTAL(
      Type.COUNTER, "Reloads: applied, unchanged, refused (nothing changed).", "result"),
  SNAPSHOT_WRITES_TOTAL(Type.COUNTER, "Snapshots written or failed.", "result"),
  SNAPSHOT_AGE_SECONDS(Type.GAUGE, "Since this process wrote its last snapshot."),
  SNAPSHOT_BYTES(Type.GAUGE, "Size of the last snapshot."),
  SNAPSHOT_WRITE_SECONDS(Type.GAUGE, "Time to write the last snapshot."),
  SNAPSHOT_PAUSE_SECONDS(
      Type.GAUGE, "How long events waited for the last snapshot, written or not."),
  SNAPSHOTS_REFUSED_TOTAL(Type.COUNTER, "Snapshots found unusable at the start.", "reason"),
  RECOVERY_ENGINES(Type.GAUGE, "Engines of the snapshot read, by fate.", "fate"),
  RECOVERY_SHARE(Type.GAUGE, "Share of the snapshot's named blocks confirmed."),
  RECOVERY_SECONDS(Type.GAUGE, "From reading the snapshot until its last engine was decided."),
  CLUSTER_SEED(Type.GAUGE, "1 for how this router's start from a neighbour stands.", "outcome"),
  CLUSTER_SEED_SECONDS(Type.GAUGE, "From the start until that was decided."),
  CLUSTER_SEED_BYTES(Type.GAUGE, "Snapshot bytes received from neighbours at the start."),
  CLUSTER_SNAPSHOTS_GIVEN_TOTAL(
      Type.COUNTER, "Snapshots for neighbours: given, refused or failed.", "result"),
  CLUSTER_SNAPSHOTS_GIVEN_BYTES_TOTAL(Type.COUNTER, "Snapshot bytes sent to neighbours."),
  CLUSTER_SNAPSHOT_TAKERS(Type.GAUGE, "Neighbours taking a snapshot now; at most 2."),
  CLUSTER_SNAPSHOT_MALFORMED_TOTAL(
      Type.COUNTER, "Messages about snapshots that could not be read."),
  CAPTURE_RECORDS_TOTAL(Type.COUNTER, "Records written to captures.", "kind"),
  CAPTURE_DROPPED_TOTAL(Type.COUNTER, "Capture records dropped: queue or disk full.", "kind"),
  CAPTURE_QUEUE_BYTES(Type.GAUGE, "Capture bytes waiting for the disk."),
  CAPTURE_QUEUE_SHARE(Type.GAUGE, "Used share of the capture queue; at 1 records are dropped."),
  CAPTURE_FAILING(Type.GAUGE, "1 while no capture file can be written."),
  CLUSTER_ROUTERS(
      Type.GAUGE, "Other routers: heard (their requests count here), reachable.", "state"),
  CLUSTER_CONNECTED(Type.GAUGE, "1 while the mesh or Redis works, as far as is known."),
  CLUSTER_LOST_TOTAL(
      Type.COUNTER, "Times another router could be reached no more: stopped, killed or cut off."),
  CLUSTER_HEARD_SECONDS(Type.GAUGE, "Since another router was last heard.", "router"),
  CLUSTER_PEER_REQUESTS(Type.GAUGE, "Requests in flight through another router.", "router"),
  CLUSTER_IN_STEP(
      Type.GAUGE, "1 if what is known of another router was what it told last.", "router"),
  CLUSTER_BYTES_TOTAL(Type.COUNTER, "Bytes to and from other routers.", "direction"),
  CLUSTER_WAITING_BYTES(Type.GAUGE, "Bytes waiting to be sent to other routers."),
  CLUSTER_DROPPED_MESSAGES_TOTAL(
      Type.COUNTER, "Messages to other routers without room, or to nobody: told again later."),
  CLUSTER_BOOKINGS_TOTAL(Type.COUNTER, "Requests that other routers told of."),
  CLUSTER_BLIND_CHOICES_TOTAL(
      Type.COUNTER,
      "Own choices of an engine that another router had chosen before, not heard of yet."),
  CLUSTER_BLIND_PREFILL_SECONDS_TOTAL(
      Type.COUNTER, "Predicted prefill of what had not been heard of then."),
  CLUSTER_ASKED_AGAIN_TOTAL(Type.COUNTER, "All asked for again because something was missing."),
  CLUSTER_REFUSED_TOTAL(
      Type.COUNTER,
      "Of what others sent: network (too long, or without the secret), malformed (another version), rows (no room).",
      "what"),
  CLIENT_REQUESTS_TOTAL(
      Type.COUNTER,
      "Requests by API key: admitted, too_many_requests, too_many_tokens, model_forbidden.",
      "client",
      "result"),
  CLIENT_TOKENS_TOTAL(
      Type.COUNTER, "Tokens of admitted requests by API key: prompt, answer.", "client", "kind"),
  WATCHED_FILE_STALE(
      Type.GAUGE,
      "1 while a key, certificate or configuration file is unusable and its last good contents"
          + " serve: alarm.",
      "file"),
  WATCHED_FILE_CHANGES_TOTAL(
      Type.COUNTER, "Changes of watched files: read, failed.", "file", "result"),
  CERTIFICATE_EXPIRY_SECONDS(
      Type.GAUGE, "Unix time at which a port's certificate expires.", "file"),
  CONSOLE_DECISIONS(Type.GAUGE, "Decisions kept for the admin port."),
  CONSOLE_DECISIONS_LIMIT(Type.GAUGE, "Max decisions kept for the admin port."),
  CONSOLE_DECISIONS_BYTES(Type.GAUGE, "Bytes of kept decisions."),
  CONSOLE_DECISIONS_MAX_BYTES(Type.GAUGE, "Max bytes of kept decisions."),
  CONSOLE_PREFIXES(Type.GAUGE, "Prefixes that engines reused, as remembered; max 1000."),
  CONSOLE_LISTENERS(Type.GAUGE, "Listeners to the console's events; max 16."),
  REQUEST_LOG_RECORDS_TOTAL(
      Type.COUNTER, "Records written to the log of decisions, or of requests.", "log"),
  REQUEST_LOG_DROPPED_TOTAL(
      Type.COUNTER,
      "Records dropped: queue_full, disk (full or unwritable), failure (a bug).",
      "log",
      "cause"),
  REQUEST_LOG_BYTES(Type.GAUGE, "Size of its files.", "log"),
  REQUEST_LOG_QUEUE_BYTES(Type.GAUGE, "Bytes waiting for the disk.", "log"),
  REQUEST_LOG_QUEUE_MAX_BYTES(
      Type.GAUGE, "Max bytes waiting for the disk; more are dropped.", "log"),
  TRACE_SPANS_TOTAL(
      Type.COUNTER, "Spans: exported, failed at the collector, dropped (queue full).", "result");

  /** Prometheus types. */
  public enum Type {
    COUNTER,
    GAUGE,
    HISTOGRAM
  }

  private static final Duration[] SHORT_BUCKETS = {
    Duration.ofNanos(100_000),
    Duration.ofNanos(200_000),
    Duration.ofNanos(500_000),
    Duration.ofMillis(1),
    Duration.ofMillis(2),
    Duration.ofMillis(5),
    Duration.ofMillis(10),
    Duration.ofMillis(20),
    Duration.ofMillis(50),
    Duration.ofMillis(100),
    Duration.ofMillis(200),
    Duration.ofMillis(500),
    Duration.ofSeconds(1),
    Duration.ofSeconds(5)
  };

  private static final Duration[] BUCKETS = {
    Duration.ofMillis(1),
    Duration.ofMillis(3),
    Duration.ofMillis(10),
    Duration.ofMillis(30),
    Duration.ofMillis(100),
    Duration.ofMillis(300),
    Duration.ofSeconds(1),
    Duration.ofSeconds(3),
    Duration.ofSeconds(10),
    Duration.ofSeconds(30),
    Duration.ofSeconds(100),
    Duration.ofSeconds(300)
  };

  private static final String SEPARATOR = ",";

  private final Type type;
  private final String meaning;
  private final String labels;

  Metric(Type type, String meaning, String... labels) {
    this.type = type;
    this.meaning = meaning;
    this.labels = String.join(SEPARATOR, labels);
  }

  /** The name in a scrape; a histogram adds its suffixes. */
  public String exposed() {
    return "warmpath_" + name().toLowerCase(Locale.ROOT);
  }

  /**
   * The counter with these values of its labels, in their order; shown from now on. Looked up: who
   * counts often keeps it.
   */
  public Counter counter(MeterRegistry registry, String... labelValues) {
    return Counter.builder(registered())
        .description(meaning)
        .tags(tags(labelValues))
        .register(registry);
  }

  /** The same for a histogram of times. */
  public Timer timer(MeterRegistry registry, String... labelValues) {
    boolean isShort = this == ROUTING_SECONDS || this == INTER_TOKEN_SECONDS;
    return Timer.builder(registered())
        .description(meaning)
        .serviceLevelObjectives(isShort ? SHORT_BUCKETS : BUCKETS)
        .tags(tags(labelValues))
        .register(registry);
  }

  /** The meters that count this, with whatever labels. */
  public Search in(MeterRegistry registry) {
    return registry.find(registered());
  }

  private List<Tag> tags(String... values) {
    List<String> names = labels();
    if (names.size() != values.length) {
      throw new IllegalArgumentException("metric=" + this + " labels=" + values.length);
    }
    List<Tag> tags = new ArrayList<>(values.length);
    for (int i = 0; i < values.length; i++) {
      tags.add(Tag.of(names.get(i), values[i]));
    }
    return tags;
  }

  /** The name to register under: the registry adds the suffix of counters and of times. */
  private String registered() {
    return exposed().replaceFirst("(_total|_seconds)$", "");
  }

  /** The name without the suffix of counters only. */
  String family() {
    return exposed().replaceFirst("_total$", "");
  }

  public Type type() {
    return type;
  }

  public List<String> labels() {
    return labels.isEmpty() ? List.of() : List.of(labels.split(SEPARATOR, -1));
  }

  /** What it says, one line. */
  public String meaning() {
    return meaning;
  }
}
