package dev.warmpath.simulator.capture;

import dev.warmpath.eventingest.StreamCounter;
import dev.warmpath.eventingest.capture.CaptureHeader;
import dev.warmpath.eventingest.capture.CaptureHeader.CaptureStream;
import dev.warmpath.eventingest.capture.CaptureOpener;
import dev.warmpath.eventingest.capture.CaptureReader;
import dev.warmpath.eventingest.capture.CaptureRecord;
import dev.warmpath.eventingest.capture.CaptureRecord.Events;
import dev.warmpath.eventingest.capture.CaptureRecord.Mark;
import dev.warmpath.eventingest.capture.CaptureRecord.Replay;
import dev.warmpath.eventingest.capture.CaptureRecord.Request;
import dev.warmpath.eventingest.capture.CaptureRecord.Response;
import dev.warmpath.eventingest.hashing.SglangNamespaces;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.router.dispatch.PromptHistory;
import dev.warmpath.router.dispatch.UncachedCauses;
import dev.warmpath.simulator.capture.CaptureVerifier.VerifyReport.Verdicts;
import dev.warmpath.simulator.capture.FaultyFeed.Faults;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Applies a capture to an index, record by record, and compares what the index predicts for each
 * request with what the engine says it served from its cache.
 *
 * <p>A request right behind a {@code quiescent} mark is judged; others are compared, but events
 * were under way when they were dispatched. Responses that do not say {@code cached_tokens} prove
 * nothing.
 *
 * <p>Confined to its caller's thread.
 */
public final class CaptureVerifier {

  /** How often a file is read: replays are known ahead. */
  public static final int PASSES = 2;

  private static final String HIDDEN_NAMESPACE = "hidden_namespace";

  private record Prediction(
      boolean judged,
      boolean unseen,
      long tokens,
      @Nullable String unusable,
      @Nullable UncachedCauses causes,
      @Nullable BlockChain prompt,
      int losses) {

    static Prediction unusable(boolean judged, boolean unseen, String why) {
      return new Prediction(judged, unseen, 0, why, null, null, 0);
    }
  }

  /** A request that waits for its response. */
  private record Asked(Request request, Prediction prediction) {

    /** Whether the engine counts the prompt's tokens otherwise than whoever recorded. */
    boolean isMiscounted(Response response) {
      int[] tokenIds = request.tokenIds();
      Long counted = response.promptTokens();
      return tokenIds != null && counted != null && counted != tokenIds.length;
    }
  }

  private final KvIndex index;
  private final ReplaySchedule schedule;
  private final Rehearsal rehearsal;

  /** When the record that is being applied was recorded, since the capture began. */
  private long nowNanos;

  private final QuietStreams quiet = new QuietStreams();
  private final Map<Integer, RecordedEngine> engines = new HashMap<>();
  private final Map<String, Asked> asked = new LinkedHashMap<>();
  private final Map<String, Long> skipped = new TreeMap<>();
  private final PrefixMatches matches = new PrefixMatches();
  private Verdicts judged = Verdicts.NONE;
  private Verdicts busy = Verdicts.NONE;
  private Verdicts unseen = Verdicts.NONE;
  private Verdicts router = Verdicts.NONE;
  private final PromptHistory history = new PromptHistory();
  private final Map<String, Long> uncached = new TreeMap<>();
  private long requests;
  private long recordNumber;

  private CaptureVerifier(KvIndex index, ReplaySchedule schedule, Rehearsal rehearsal) {
    this.index = index;
    this.schedule = schedule;
    this.rehearsal = rehearsal;
  }

  /**
   * Verifies one file.
   *
   * @param index an empty index
   */
  public static VerifyReport verify(Path file, KvIndex index) throws IOException {
    return verify(file, index, Rehearsal.RECORDED);
  }

  /**
   * Verifies one file while things go wrong.
   *
   * @param index an empty index
   */
  public static VerifyReport verify(Path file, KvIndex index, Rehearsal rehearsal)
      throws IOException {
    return verify(file, index, rehearsal, CaptureReader::open);
  }

  /**
   * The same, with the file opened otherwise.
   *
   * @param opener asked {@value #PASSES} times
   */
  public static VerifyReport verify(
      Path file, KvIndex index, Rehearsal rehearsal, CaptureOpener opener) throws IOException {
    ReplaySchedule schedule = ReplaySchedule.of(file, opener);
    CaptureVerifier verifier = new CaptureVerifier(index, schedule, rehearsal);
    try (CaptureReader reader = opener.open(file)) {
      verifier.open(reader.header());
      CaptureRecord record = reader.next();
      while (record != null) {
        verifier.apply(record);
        record = reader.next();
      }
      return verifier.report(reader.header(), reader.truncated());
    }
  }

  private void open(CaptureHeader header) {
    for (CaptureStream stream : header.streams()) {
      engines.put(
          stream.id(),
          new RecordedEngine(
              stream,
              index,
              () -> nowNanos,
              () -> schedule.answers(stream.id(), recordNumber),
              rehearsal));
    }
  }

  private void apply(CaptureRecord record) {
    recordNumber++;
    nowNanos = (long) (record.timeSeconds() * 1e9);
    boolean judges = quiet.judges(record);
    RecordedEngine engine = engines.get(record.stream());
    if (record instanceof Mark mark) {
      mark(mark);
    } else if (record instanceof Request request) {
      requests++;
      Asked begun = new Asked(request, predict(engine, request, judges));
      asked.put(key(record, request.requestId()), begun);
    } else if (record instanceof Response response) {
      compare(response);
    } else if (record instanceof Events message && engine != null) {
      engine.live(message);
    } else if (record instanceof Replay replay && engine != null) {
      engine.answer(replay);
    }
    engines.values().forEach(RecordedEngine::answerRehearsed);
  }

  private static String key(CaptureRecord record, String requestId) {
    return record.stream() + "/" + requestId;
  }

  private void mark(Mark mark) {
    for (Map.Entry<Integer, RecordedEngine> entry : engines.entrySet()) {
      if (mark.stream() == CaptureRecord.NO_STREAM || mark.stream() == entry.getKey()) {
        mark(mark, entry.getValue());
      }
    }
  }

  private static void mark(Mark mark, RecordedEngine engine) {
    switch (mark.name()) {
      case "engine-started", "engine-stopped" -> engine.stream().restarted(mark.name());
      case "subscriber-lost" -> engine.stream().disconnected();
      case "subscriber-back" -> engine.stream().connected();
      case "records-dropped" -> dropped(mark, engine);
      case "prefix-cache-reset" -> reset(mark, engine);
      default -> {}
    }
  }

  /**
   * A reset counts unless it is known to have failed: its event may come with the next step only.
   */
  private static void reset(Mark mark, RecordedEngine engine) {
    boolean refused =
        Boolean.FALSE.equals(mark.detail().get("success"))
            || (mark.detail().get("status") instanceof Long status && status != 200);
    if (!refused) {
      engine.stream().cleared();
    }
  }

  /** What the file lacks may have changed the cache: as good as lost on the way. */
  private static void dropped(Mark mark, RecordedEngine engine) {
    if (!Set.of("request", "response").containsAll(mark.detail().keySet())) {
      engine.stream().liveRefused();
    }
  }

  private Prediction predict(@Nullable RecordedEngine engine, Request request, boolean judges) {
    boolean unseen = engine != null && engine.hasLostUnseen();
    if (engine == null) {
      return Prediction.unusable(judges, unseen, "unknown_stream");
    }
    PromptKeys keys = new PromptKeys(request.text("lora_name"), request.text("cache_salt"));
    int[] tokenIds = request.tokenIds();
    if (tokenIds == null) {
      String unread = request.text("unread");
      return Prediction.unusable(judges, unseen, unread == null ? "no_token_ids" : unread);
    }
    if (request.body().get("pulled_tokens") != null) {
      return Prediction.unusable(
          judges, unseen, "pulled"); // another engine's memory has a part in it
    }
    String extraKey = request.text("extra_key");
    SglangNamespaces namespaces = engine.rules().namespaces();
    if (extraKey != null && (namespaces == null || !namespaces.shows(keys.loraName()))) {
      return Prediction.unusable(judges, unseen, HIDDEN_NAMESPACE);
    }
    ChainSpace space = engine.applier().space();
    boolean reads =
        request.body().get("prompt_logprobs") == null
            && !Boolean.FALSE.equals(request.body().get("reads_cache"));
    PromptKeys shown =
        space == null || namespaces == null || extraKey == null
            ? keys
            : namespaces.keys(space, tokenIds, keys, extraKey);
    boolean readsSlowTiers = !Boolean.FALSE.equals(request.body().get("reads_slow_tiers"));
    BlockChain prompt =
        reads && space != null && shown != null ? BlockChain.of(space, tokenIds, shown) : null;
    if (prompt == null) {
      UncachedCauses unread = new UncachedCauses(List.of());
      return new Prediction(judges, unseen, 0, null, unread, null, 0);
    }
    int tokens = (int) reusable(engine, prompt, readsSlowTiers);
    UncachedCauses causes =
        history.causes(
            prompt, tokens, matches.mostTokens(), (stream, before) -> losses(stream) != before);
    return new Prediction(judges, unseen, tokens, null, causes, prompt, losses(request.stream()));
  }

  /** How often all that an engine held was forgotten or put in doubt at once. */
  private int losses(int stream) {
    RecordedEngine engine = engines.get(stream);
    return engine == null
        ? 0
        : (int)
            (engine.counters().get(StreamCounter.CLEARS)
                + engine.counters().get(StreamCounter.SUSPENDED_BLOCKS));
  }

  private long reusable(RecordedEngine engine, BlockChain prompt, boolean readsSlowTiers) {
    index.match(prompt, matches);
    int slot = engine.applier().slot();
    return readsSlowTiers
        ? engine.applier().slowTier().reused(matches, slot)
        : matches.tokens(slot, StorageTier.GPU);
  }

  private void compare(Response response) {
    Asked request = asked.remove(key(response, response.requestId()));
    if (request != null) {
      compare(request, response);
    }
  }

  private void compare(Asked request, Response response) {
    Prediction prediction = request.prediction();
    Long cached = response.cachedTokens();
    Long predicted = request.request().predictedTokens();
    if (prediction.prompt() != null) {
      int stream = request.request().stream();
      history.computed(prediction.prompt(), stream, prediction.losses(), 0, 0);
    }
    if (predicted != null && cached != null) {
      router = router.with(predicted, cached);
    }
    if (prediction.unusable() != null) {
      skip(prediction.unusable());
    } else if (cached == null) {
      skip("no_cached_tokens");
    } else if (request.isMiscounted(response)) {
      skip("miscounted");
    } else if (prediction.unseen()) {
      unseen = unseen.with(prediction.tokens(), cached);
    } else if (prediction.judged()) {
      judged = judged.with(prediction.tokens(), cached);
      countUncached(request, Objects.requireNonNull(prediction.causes()), cached.intValue());
    } else {
      busy = busy.with(prediction.tokens(), cached);
    }
  }

  private void countUncached(Asked request, UncachedCauses causes, int cachedTokens) {
    int promptTokens = Objects.requireNonNull(request.request().tokenIds()).length;
    causes
        .of(promptTokens, cachedTokens)
        .byLabel()
        .forEach((cause, tokens) -> uncached.merge(cause, (long) tokens, Long::sum));
  }

  private void skip(String reason) {
    skipped.merge(reason, 1L, Long::sum);
  }

  private VerifyReport report(CaptureHeader header, boolean truncated) {
    asked.values().forEach(unanswered -> skip("no_response"));
    return new VerifyReport(
        header.streams().stream()
            .map(stream -> (stream.engine() + " " + stream.engineVersion()).strip())
            .distinct()
            .collect(Collectors.joining(", ")),
        count(StreamCounter.EVENTS),
        count(StreamCounter.BLOCKS_STORED),
        requests,
        judged,
        skipped,
        busy,
        engines.values().stream().mapToLong(RecordedEngine::dropped).sum(),
        unseen,
        router,
        uncached,
        truncated);
  }

  private long count(StreamCounter counter) {
    return engines.values().stream().mapToLong(engine -> engine.counters().get(counter)).sum();
  }

  /**
   * Where in a capture replays are answered, known ahead: a question whose answer was not recorded
   * before the next judged request must count as refused.
   *
   * <p>Confined to its verifier.
   */
  private static final class ReplaySchedule {

    /** Per stream, by record number: replays (positive) and requests behind a mark (negative). */
    private final Map<Integer, Deque<Long>> ahead = new HashMap<>();

    static ReplaySchedule of(Path file, CaptureOpener opener) throws IOException {
      ReplaySchedule schedule = new ReplaySchedule();
      QuietStreams quiet = new QuietStreams();
      try (CaptureReader reader = opener.open(file)) {
        CaptureRecord record = reader.next();
        for (long number = 1; record != null; number++) {
          schedule.note(record, number, quiet.judges(record));
          record = reader.next();
        }
      }
      return schedule;
    }

    private void note(CaptureRecord record, long number, boolean judged) {
      if (record instanceof CaptureRecord.Replay) {
        ahead.computeIfAbsent(record.stream(), stream -> new ArrayDeque<>()).add(number);
      } else if (judged) {
        ahead.computeIfAbsent(record.stream(), stream -> new ArrayDeque<>()).add(-number);
      }
    }

    /**
     * Whether a replay of {@code stream} is answered from record {@code number} on, and in time.
     */
    boolean answers(int stream, long number) {
      Deque<Long> steps = ahead.getOrDefault(stream, new ArrayDeque<>());
      while (!steps.isEmpty() && Math.abs(steps.getFirst()) < number) {
        steps.removeFirst();
      }
      return !steps.isEmpty() && steps.getFirst() > 0;
    }
  }

  /**
   * How the predictions of one capture came out.
   *
   * @param engine the recorded engines, release included
   * @param events events applied
   * @param blocks block hashes announced as stored
   * @param requests requests recorded
   * @param judged requests behind a {@code quiescent} mark
   * @param skipped requests that prove nothing, by reason
   * @param busy the other requests: not judged, because events were under way
   * @param dropped batches that a rehearsal dropped
   * @param unseen requests behind a loss that nothing had shown yet: not judged
   * @param router what the recording router had predicted itself, where it did
   * @param uncached tokens that engines computed of the judged requests' prompts, by the label of
   *     why they were not cached
   * @param truncated whether the file ends inside a record
   */
  public record VerifyReport(
      String engine,
      long events,
      long blocks,
      long requests,
      Verdicts judged,
      Map<String, Long> skipped,
      Verdicts busy,
      long dropped,
      Verdicts unseen,
      Verdicts router,
      Map<String, Long> uncached,
      boolean truncated) {

    public VerifyReport {
      skipped = new TreeMap<>(skipped);
      uncached = new TreeMap<>(uncached);
    }

    /** How many predictions were equal to the truth, above and below it. */
    public record Verdicts(long exact, long over, long under) {

      /** How many there are. */
      public long count() {
        return exact + over + under;
      }

      static final Verdicts NONE = new Verdicts(0, 0, 0);

      Verdicts with(long predicted, long actual) {
        return new Verdicts(
            exact + (predicted == actual ? 1 : 0),
            over + (predicted > actual ? 1 : 0),
            under + (predicted < actual ? 1 : 0));
      }

      Verdicts plus(Verdicts other) {
        return new Verdicts(exact + other.exact, over + other.over, under + other.under);
      }
    }

    /** Requests that prove nothing. */
    public long skippedRequests() {
      return skipped.values().stream().mapToLong(Long::longValue).sum();
    }
  }

  /**
   * Which streams are quiescent: everything that their engines caused so far is recorded.
   *
   * <p>Confined to its verifier.
   */
  private static final class QuietStreams {

    private final Set<Integer> quiet = new HashSet<>();
    private boolean allQuiet;
    private final Set<Integer> busySinceAllQuiet = new HashSet<>();

    /** Takes the next record; whether it is a request that can be judged. */
    boolean judges(CaptureRecord record) {
      if (record instanceof Mark mark && mark.name().equals("quiescent")) {
        quiet(mark.stream());
      } else if (record instanceof Mark mark && mark.name().equals("records-dropped")) {
        busy(record.stream());
      } else if (record instanceof Request) {
        boolean judged = isQuiet(record.stream());
        busy(record.stream());
        return judged;
      }
      return false;
    }

    private boolean isQuiet(int stream) {
      return quiet.contains(stream) || (allQuiet && !busySinceAllQuiet.contains(stream));
    }

    private void quiet(int stream) {
      if (stream == CaptureRecord.NO_STREAM) {
        allQuiet = true;
        quiet.clear();
        busySinceAllQuiet.clear();
      } else {
        quiet.add(stream);
      }
    }

    private void busy(int stream) {
      if (stream == CaptureRecord.NO_STREAM) {
        allQuiet = false;
        quiet.clear();
      } else {
        quiet.remove(stream);
        busySinceAllQuiet.add(stream);
      }
    }
  }

  /**
   * What is done to a capture while it is verified.
   *
   * @param faults what goes wrong on the way
   * @param replays whether what was lost can be asked again; else it is gone
   */
  public record Rehearsal(Faults faults, boolean replays) {

    /** Nothing: the capture as it was recorded, and replays where it has some. */
    public static final Rehearsal RECORDED = new Rehearsal(Faults.NONE, true);

    /** Whether nothing is done to it. */
    boolean isRecorded() {
      return faults.equals(Faults.NONE);
    }
  }
}
