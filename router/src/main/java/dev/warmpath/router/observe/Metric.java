package dev.warmpath.router.observe;

import java.util.List;
import java.util.Locale;

/**
 * Every metric of Warmpath's own, under the name that a scrape shows. The documentation page is
 * held to this list.
 *
 * <p>Immutable.
 */
public enum Metric {
  BUILD_INFO(Type.GAUGE, "1; which version runs on which Java.", "version", "java"),
  REQUESTS_TOTAL(
      Type.COUNTER, "Requests that were passed on, or refused, ended.", "path", "status", "ending"),
  REQUEST_DURATION_SECONDS(
      Type.HISTOGRAM, "From a request's head to the last byte of its response.", "path"),
  FIRST_BYTE_SECONDS(
      Type.HISTOGRAM, "From a request's head to the first byte of a good response.", "replica"),
  ROUTING_SECONDS(
      Type.HISTOGRAM,
      "The router's own time: from a request's last byte until it is sent to its first replica,"
          + " without its wait in the queue."),
  INTER_TOKEN_SECONDS(
      Type.HISTOGRAM,
      "Between two chunks of a stream that brought parts of the answer.",
      "replica"),
  REQUESTS_SERVING(Type.GAUGE, "Requests being served now."),
  REQUESTS_LIMIT(Type.GAUGE, "Requests that may be served at a time."),
  STORED_RESPONSES(Type.GAUGE, "Responses of `/v1/responses` whose replica is remembered."),
  STORED_RESPONSES_LIMIT(Type.GAUGE, "Responses that may be remembered; the oldest give way."),
  STORED_RESPONSE_LOOKUPS_TOTAL(
      Type.COUNTER,
      "Requests that continue, show or cancel a response: its replica was found, or is unknown.",
      "result"),
  RETRIES_LEFT(Type.GAUGE, "Requests that may be tried again at once; it grows with requests."),
  QUEUE_REQUESTS(Type.GAUGE, "Requests that wait because all replicas for them are full."),
  QUEUE_LIMIT(Type.GAUGE, "Requests that may wait for a replica with room."),
  QUEUE_WAIT_SECONDS(
      Type.HISTOGRAM, "From a request's head until it left the queue, of those that waited."),
  REQUEST_BODIES_BYTES(Type.GAUGE, "Bytes of request bodies whose responses have not begun."),
  REQUEST_BODIES_MAX_BYTES(Type.GAUGE, "Max bytes of request bodies held."),
  CONNECTIONS(Type.GAUGE, "Connections of clients that are open."),
  CONNECTIONS_LIMIT(Type.GAUGE, "Connections of clients that may be open."),
  CONNECTIONS_CLOSED_TOTAL(
      Type.COUNTER,
      "Connections that the router closed: limit (too many), idle (no request came in time).",
      "reason"),
  REJECTED_TOTAL(Type.COUNTER, "Errors that the router answered itself.", "code"),
  RETRIES_TOTAL(Type.COUNTER, "Times that another replica was tried.", "cause"),
  FALLBACKS_TOTAL(Type.COUNTER, "Requests routed without knowing their prompt.", "cause"),
  ASSIGNMENTS_TOTAL(Type.COUNTER, "Requests given to an engine.", "engine", "policy", "reason"),
  UNASSIGNED_TOTAL(Type.COUNTER, "Requests that no replica could take.", "cause"),
  OUTCOMES_TOTAL(Type.COUNTER, "How requests ended at an engine.", "engine", "outcome"),
  PROMPT_TOKENS_TOTAL(
      Type.COUNTER,
      "Tokens of prompts, as engines report them; a model that the replica did not name is `other`.",
      "model",
      "engine"),
  CACHED_TOKENS_TOTAL(
      Type.COUNTER,
      "Tokens of prompts that were cached, as engines report them. By `prompt_tokens_total`: the hit rate.",
      "model",
      "engine"),
  ANSWER_TOKENS_TOTAL(
      Type.COUNTER, "Tokens of answers, as engines report them.", "model", "engine"),
  PREDICTIONS_TOTAL(
      Type.COUNTER,
      "Predicted cached tokens compared with the engine's: exact, over, under.",
      "engine",
      "result"),
  PREDICTED_TOKENS_TOTAL(
      Type.COUNTER,
      "Predicted tokens: hit (predicted and cached), over (predicted only), under (cached only).",
      "engine",
      "result"),
  PREDICTION_ERROR_TOKENS(
      Type.HISTOGRAM, "Predicted minus actual cached tokens of one request.", "engine"),
  PROMPT_MISCOUNTS_TOTAL(
      Type.COUNTER, "Prompts whose length the engine counts otherwise: an alarm.", "engine"),
  TOKENIZER_WAITING(Type.GAUGE, "Prompts that wait for a tokenizer thread."),
  TOKENIZER_QUEUE_LIMIT(Type.GAUGE, "Prompts that may wait for a tokenizer thread."),
  BODY_SCANS_WAITING(
      Type.GAUGE,
      "Bodies that wait to be looked through without their prompt; as many may as prompts."),
  TOKENIZER_READY(
      Type.GAUGE, "1 when the model's tokenizer is loaded, 0 while it is not.", "model"),
  TOKENIZER_LOAD_FAILURES_TOTAL(
      Type.COUNTER, "Attempts to load the model's tokenizer that failed.", "model"),
  TOKENIZER_DOWNLOADED_BYTES(
      Type.GAUGE, "Bytes of the model's files that are downloaded, or were there before.", "model"),
  TOKENIZER_DOWNLOAD_SIZE_BYTES(
      Type.GAUGE, "Bytes of the model's files; 0 if nothing has to be downloaded.", "model"),
  TOKENIZER_DOWNLOAD_RETRIES_TOTAL(
      Type.COUNTER, "Requests to the hub that failed and were sent again.", "model"),
  TOKENIZER_QUARANTINED(
      Type.GAUGE,
      "1 when an engine cuts the model's prompts otherwise, so that they are routed on load: an"
          + " alarm.",
      "model"),
  TOKENS_TOTAL(
      Type.COUNTER,
      "Tokens of prompts by where they came from: prefix, chunk, word (all remembered), native.",
      "model",
      "source"),
  TOKENIZER_MEMORY_BYTES(
      Type.GAUGE,
      "Bytes that remembered texts of the model take, by layer: prefix, chunk, word.",
      "model",
      "layer"),
  TOKENIZER_MEMORY_MAX_BYTES(
      Type.GAUGE, "Max bytes of remembered texts, by layer.", "model", "layer"),
  TOKENIZER_EVICTIONS_TOTAL(
      Type.COUNTER, "Remembered texts dropped for newer ones.", "model", "layer"),
  BODY_BYTES_TOTAL(
      Type.COUNTER,
      "Bytes of request bodies by how they were read: memory (a body began like an earlier one),"
          + " parsed.",
      "source"),
  BODY_MEMORY_BYTES(Type.GAUGE, "Bytes of remembered bodies."),
  BODY_MEMORY_MAX_BYTES(Type.GAUGE, "Max bytes of remembered bodies."),
  BODY_EVICTIONS_TOTAL(Type.COUNTER, "Remembered bodies dropped for newer ones."),
  PARITY_CHECKS_TOTAL(
      Type.COUNTER,
      "Prompts whose tokens were compared with an engine's: equal, different (an alarm), unconfirmed,"
          + " unknown, unavailable, error, skipped.",
      "model",
      "result"),
  PARITY_BODIES_SHARE(
      Type.GAUGE, "Used share of the room for bodies to be compared; the oldest give way."),
  REMOTE_PROMPTS_TOTAL(
      Type.COUNTER,
      "Prompts that an engine was asked for: source render, tokenize, memory; outcome ok,"
          + " not_offered, not_usable, timeout, error, open_circuit.",
      "source",
      "outcome"),
  REMOTE_MEMORY_SHARE(
      Type.GAUGE, "Used share of the room for engines' prompts that are remembered."),
  POLICY_MEMORY_SHARE(
      Type.GAUGE,
      "Used share of the room for what the policy remembers; at 1 the oldest gives way.",
      "policy"),
  REPLICA_UP(Type.GAUGE, "1 when the replica passes its health checks.", "replica"),
  REPLICA_DRAINING(Type.GAUGE, "1 when the replica gets no new requests.", "replica"),
  REPLICA_REQUESTS(Type.GAUGE, "Requests in flight at the replica, on all ranks.", "replica"),
  REPLICA_REQUESTS_LIMIT(
      Type.GAUGE,
      "Max requests in flight at the replica: configured, or learned from its waiting requests.",
      "replica"),
  DISCOVERY_AGE_SECONDS(
      Type.GAUGE, "Since the source's last good look, or since its start without one.", "source"),
  DISCOVERY_FAILURES_TOTAL(
      Type.COUNTER, "Looks that failed; the replicas found before stay.", "source"),
  DISCOVERY_REPLICAS(Type.GAUGE, "Replicas that the last good look found.", "source"),
  DISCOVERY_REFUSED(
      Type.GAUGE, "Addresses of the last good look that make no replica; see the log.", "source"),
  ENGINE_EJECTED(
      Type.GAUGE, "1 while it gets no requests because it failed several in a row.", "engine"),
  ENGINE_REQUESTS_IN_FLIGHT(Type.GAUGE, "Requests from dispatch to last byte.", "engine"),
  ENGINE_OTHER_REQUESTS(
      Type.GAUGE,
      "Requests of other clients and routers at the engine, by its own metrics: running, waiting.",
      "engine",
      "state"),
  ENGINE_QUEUED_PREFILL_TOKENS(
      Type.GAUGE, "Prompt tokens dispatched and not known to be computed.", "engine"),
  EXPECTED_BLOCKS(Type.GAUGE, "Blocks of dispatched prompts that no event confirmed.", "engine"),
  EXPECTED_BLOCKS_ENDED_TOTAL(
      Type.COUNTER,
      "How expected blocks ended: confirmed, expired, cancelled, dropped.",
      "engine",
      "result"),
  INDEX_BLOCKS(
      Type.GAUGE,
      "Blocks in the index: held, named (of these), orphans (waiting), suspended (not credited).",
      "engine",
      "state"),
  INDEX_BYTES(Type.GAUGE, "Bytes of the index."),
  INDEX_MAX_BYTES(Type.GAUGE, "Max bytes of the index."),
  INDEX_EVICTED_BLOCKS_TOTAL(Type.COUNTER, "Held blocks left out of the index for lack of room."),
  INDEX_READ_RETRIES_TOTAL(Type.COUNTER, "Lookups retried after a concurrent write."),
  INDEX_UNANSWERED_QUERIES_TOTAL(
      Type.COUNTER, "Queries disturbed so often that they credited nobody."),
  INDEX_WRITER_STALLED_SECONDS(
      Type.GAUGE,
      "Since the index writer began its last turn; beyond a second it is busy, stuck or has ended:"
          + " an alarm."),
  EVENT_TRUST(Type.GAUGE, "1 for the present trust in the engine's events.", "engine", "trust"),
  EVENT_TRUST_SINCE_SECONDS(
      Type.GAUGE, "Unix time of the last change of the trust or its reason.", "engine"),
  EVENT_VISIBLE_SECONDS(
      Type.HISTOGRAM,
      "From a live batch's arrival at the socket until the index shows it; the wait for a replay counts."),
  LAYOUT_MISMATCH(
      Type.GAUGE,
      "1 when the engine's blocks differ from those of others of its model: an alarm.",
      "engine"),
  EVENT_HASH_SCHEME(
      Type.GAUGE, "1 for how the engine makes its hashes, or `unknown`.", "engine", "scheme"),
  EVENT_LAG_SECONDS(
      Type.GAUGE,
      "From arrival to visibility of the last live batch that the index shows; during a repair, since it began.",
      "engine"),
  EVENT_SEQUENCE(Type.GAUGE, "Sequence number of the last batch applied.", "engine"),
  EVENT_RING_MESSAGES(Type.GAUGE, "Messages that wait between socket and index.", "engine"),
  EVENT_RING_BYTES(
      Type.GAUGE, "Bytes of the messages that wait between socket and index.", "engine"),
  EVENT_SOCKET_BYTES(
      Type.GAUGE,
      "Bytes that wait in the engine's live socket; at twice ingest.ring-bytes more are refused.",
      "engine"),
  EVENT_RING_SHARE(
      Type.GAUGE,
      "Used share of the room for messages between socket and index; at 1 more are refused.",
      "engine"),
  EVENT_RING_COMMANDS(
      Type.GAUGE,
      "Changes of state that wait between socket and index: of connections, replays, metrics,"
          + " requests.",
      "engine"),
  EVENT_BUFFERED_BATCHES(
      Type.GAUGE, "Live batches that wait for the end of a replay; at most 16384.", "engine"),
  REPLAYS_RUNNING(Type.GAUGE, "Replays that run now; at most 8."),
  EVENT_STREAM_TOTAL(
      Type.COUNTER, "What happened on an engine's event stream, see below.", "engine", "event"),
  CONFIG_RELOADS_TOTAL(
      Type.COUNTER,
      "Reloads of the configuration: applied, unchanged, refused (nothing was changed).",
      "result"),
  SNAPSHOT_WRITES_TOTAL(Type.COUNTER, "Snapshots that were written, or failed.", "result"),
  SNAPSHOT_AGE_SECONDS(Type.GAUGE, "Since this process wrote its last snapshot."),
  SNAPSHOT_BYTES(Type.GAUGE, "Bytes of the last snapshot."),
  SNAPSHOT_WRITE_SECONDS(Type.GAUGE, "How long writing the last snapshot took."),
  SNAPSHOT_PAUSE_SECONDS(Type.GAUGE, "How long events waited for the last one, written or not."),
  SNAPSHOTS_REFUSED_TOTAL(
      Type.COUNTER, "Snapshots found at the start that could not be used.", "reason"),
  RECOVERY_ENGINES(Type.GAUGE, "Engines of the snapshot that was read, by their fate.", "fate"),
  RECOVERY_SHARE(
      Type.GAUGE,
      "Part of the named blocks of the snapshot read at the start that was shown to be true."),
  RECOVERY_SECONDS(Type.GAUGE, "From reading the snapshot until its last engine was decided."),
  CAPTURE_RECORDS_TOTAL(Type.COUNTER, "Records written to capture files.", "kind"),
  CAPTURE_DROPPED_TOTAL(
      Type.COUNTER, "Records left out: no room in the queue, or none on the disk.", "kind"),
  CAPTURE_QUEUE_BYTES(Type.GAUGE, "Bytes that wait to be captured."),
  CAPTURE_QUEUE_SHARE(
      Type.GAUGE, "Used share of the room for records to be captured; at 1 more are left out."),
  CAPTURE_FAILING(Type.GAUGE, "1 while no capture file can be written."),
  CLIENT_REQUESTS_TOTAL(
      Type.COUNTER,
      "Requests with an API key, by its name: admitted, too_many_requests, too_many_tokens,"
          + " not_its_model.",
      "client",
      "result"),
  CLIENT_TOKENS_TOTAL(
      Type.COUNTER,
      "Tokens of admitted requests with an API key, by its name: prompt, answer.",
      "client",
      "kind"),
  SECRET_FILE_STALE(
      Type.GAUGE,
      "1 while files of keys or certificates hold what cannot be used, and older contents are: an"
          + " alarm.",
      "file"),
  SECRET_FILE_CHANGES_TOTAL(
      Type.COUNTER, "Changes of files of keys or certificates: read, failed.", "file", "result"),
  CERTIFICATE_EXPIRY_SECONDS(
      Type.GAUGE, "Unix time at which the certificate of a port ends.", "file"),
  CONSOLE_DECISIONS(Type.GAUGE, "Decisions that the admin port can show."),
  CONSOLE_DECISIONS_LIMIT(
      Type.GAUGE, "Max decisions kept for the admin port; the oldest give way."),
  CONSOLE_DECISIONS_BYTES(Type.GAUGE, "Bytes of the decisions kept for the admin port."),
  CONSOLE_DECISIONS_MAX_BYTES(Type.GAUGE, "Max bytes of the decisions kept for the admin port."),
  CONSOLE_PREFIXES(Type.GAUGE, "Prefixes remembered for the admin port; at most 1000."),
  CONSOLE_LISTENERS(Type.GAUGE, "Listeners to the console's events; at most 16."),
  DECISION_LOG_RECORDS_TOTAL(Type.COUNTER, "Records written to the decision log."),
  DECISION_LOG_DROPPED_TOTAL(
      Type.COUNTER,
      "Records left out of the decision log: queue_full, disk (full, or not writable), failure (a bug).",
      "cause"),
  DECISION_LOG_BYTES(Type.GAUGE, "Bytes of the decision log's files."),
  DECISION_LOG_QUEUE_BYTES(Type.GAUGE, "Bytes of decision log records that wait for the disk."),
  DECISION_LOG_QUEUE_MAX_BYTES(
      Type.GAUGE, "Max bytes of decision log records that wait for the disk; more are dropped."),
  ACCESS_LOG_RECORDS_TOTAL(Type.COUNTER, "Records written to the access log."),
  ACCESS_LOG_DROPPED_TOTAL(
      Type.COUNTER,
      "Records left out of the access log: queue_full, disk (full, or not writable), failure (a bug).",
      "cause"),
  ACCESS_LOG_BYTES(Type.GAUGE, "Bytes of the access log's files."),
  ACCESS_LOG_QUEUE_BYTES(Type.GAUGE, "Bytes of access log records that wait for the disk."),
  ACCESS_LOG_QUEUE_MAX_BYTES(
      Type.GAUGE, "Max bytes of access log records that wait for the disk; more are dropped."),
  TRACE_SPANS_TOTAL(
      Type.COUNTER,
      "Spans: exported, failed at the collector, dropped for a full queue.",
      "result");

  /** Prometheus types. */
  public enum Type {
    COUNTER,
    GAUGE,
    HISTOGRAM
  }

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

  /** The name to register under: the registry adds the suffix of counters and of times. */
  String registered() {
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
