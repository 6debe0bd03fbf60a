package dev.warmpath.simulator.capture;

import dev.warmpath.eventingest.EngineDialect;
import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.EngineRules;
import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.eventingest.StreamCounters;
import dev.warmpath.eventingest.apply.EventApplier;
import dev.warmpath.eventingest.capture.CaptureHeader.CaptureStream;
import dev.warmpath.eventingest.capture.CaptureRecord.Events;
import dev.warmpath.eventingest.capture.CaptureRecord.Replay;
import dev.warmpath.eventingest.hashing.EventFormat;
import dev.warmpath.eventingest.hashing.SglangNamespaces;
import dev.warmpath.eventingest.hashing.SglangRules;
import dev.warmpath.eventingest.stream.EngineStream;
import dev.warmpath.eventingest.stream.StreamLimits;
import dev.warmpath.eventingest.stream.StreamSockets;
import dev.warmpath.eventingest.wire.StreamMessage;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.simulator.capture.CaptureVerifier.Rehearsal;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One recorded engine: its stream, fed from the capture instead of sockets.
 *
 * <p>Confined to its verifier.
 */
final class RecordedEngine implements StreamSockets {

  private static final long NONE = 0;
  private static final int MAX_ROUNDS = 4;

  /** As many as engines keep by default. */
  private static final int REPLAYED_BATCHES = 10_000;

  private final EngineRules rules;
  private final StreamCounters counters = new StreamCounters();
  private final EventApplier applier;
  private final EngineStream stream;
  private final BooleanSupplier answered;
  private final Rehearsal rehearsal;
  private final FaultyFeed feed;
  private final ReplayBuffer published = new ReplayBuffer(REPLAYED_BATCHES);
  private long wantedReplay = NONE;
  private long wantedFrom;

  /**
   * @param answered whether the capture answers a replay asked for now
   */
  RecordedEngine(
      CaptureStream recorded,
      KvIndex index,
      LongSupplier nanoClock,
      BooleanSupplier answered,
      Rehearsal rehearsal) {
    this.answered = answered;
    this.rehearsal = rehearsal;
    feed = new FaultyFeed(rehearsal.faults(), recorded.id());
    rules = rules(recorded, dialect(recorded.engine().toLowerCase(Locale.ROOT)));
    EngineId id =
        new EngineId(
            recorded.replica().isEmpty() ? "stream-" + recorded.id() : recorded.replica(),
            Math.max(0, recorded.dpRank()));
    EngineSource source =
        new EngineSource(
            id, recorded.model(), "capture", false, "capture", rules, null, EngineSource.ANY_RANK);
    applier = new EventApplier(index, source, counters);
    stream = new EngineStream(applier, this, StreamLimits.DEFAULT, nanoClock, counters);
    stream.connected();
    answerRehearsed();
  }

  /** Adapters are recorded as NAME of one at {@code lora/NAME}, or as NAME=ID. */
  private static SglangNamespaces namespaces(CaptureStream recorded) {
    Map<String, String> ids = new HashMap<>();
    for (String name : texts(recorded.config("loras"))) {
      ids.put(name, SglangNamespaces.adapterId(name, "lora/" + name));
    }
    for (String adapter : texts(recorded.config("lora_ids"))) {
      int equals = adapter.lastIndexOf('=');
      ids.put(adapter.substring(0, Math.max(0, equals)), adapter.substring(equals + 1));
    }
    boolean dynamo = "dynamo".equals(recorded.config("format"));
    return new SglangNamespaces(dynamo ? EventFormat.DYNAMO : EventFormat.DEFAULT, ids);
  }

  private static EngineDialect dialect(String engine) {
    if (engine.startsWith("sglang")) {
      return EngineDialect.SGLANG;
    }
    return engine.startsWith("tensorrt") || engine.startsWith("trtllm")
        ? EngineDialect.TRTLLM
        : EngineDialect.VLLM;
  }

  /** How its events are understood, and what follows for its hits. */
  EngineRules rules() {
    return rules;
  }

  EngineStream stream() {
    return stream;
  }

  EventApplier applier() {
    return applier;
  }

  StreamCounters counters() {
    return counters;
  }

  /** A message was recorded; it arrives as far as the rehearsal lets it. */
  void live(Events recorded) {
    if (rehearsal.isRecorded()) {
      stream.live(message(recorded));
      return;
    }
    published.published(message(recorded));
    for (Events arriving : feed.arriving(feed.numbered(recorded))) {
      stream.live(message(arriving));
      answerRehearsed();
    }
  }

  /** Whether something was lost of which nothing that arrived tells yet. */
  boolean hasLostUnseen() {
    return feed.isTailLost();
  }

  /** Messages that the rehearsal dropped. */
  long dropped() {
    return feed.dropped();
  }

  /** A rehearsal answers at once what was asked for. */
  void answerRehearsed() {
    while (!rehearsal.isRecorded() && rehearsal.replays() && wantedReplay != NONE) {
      long replayId = wantedReplay;
      wantedReplay = NONE;
      for (StreamMessage batch : List.copyOf(published.from(wantedFrom))) {
        stream.replayed(replayId, batch);
      }
      stream.replayEnded(replayId, true);
    }
  }

  private static StreamMessage message(Events recorded) {
    return new StreamMessage(recorded.sequence(), recorded.payload());
  }

  /** Answers the replay that is asked for, or asks for it first. */
  void answer(Replay recorded) {
    if (!rehearsal.isRecorded()) {
      remember(recorded);
      return;
    }
    if (wantedReplay == NONE) {
      stream.connected();
    }
    for (int round = 0; wantedReplay != NONE && round < MAX_ROUNDS; round++) {
      long replayId = wantedReplay;
      wantedReplay = NONE;
      stream.replayEnded(replayId, feed(replayId, recorded.replies()));
    }
    while (wantedReplay != NONE) {
      long replayId = wantedReplay;
      wantedReplay = NONE;
      stream.replayEnded(replayId, false);
    }
  }

  /** What was not heard live can be asked again in a rehearsal too. */
  private void remember(Replay recorded) {
    for (List<byte[]> frames : recorded.replies()) {
      StreamMessage message = StreamMessage.ofReply(frames);
      if (message != null && !message.endsReplay()) {
        published.add(message);
      }
    }
    stream.connected();
  }

  /** Whether the replies end with the marker. */
  private boolean feed(long replayId, List<List<byte[]>> replies) {
    for (List<byte[]> frames : replies) {
      StreamMessage message = StreamMessage.ofReply(frames);
      if (message != null && message.endsReplay()) {
        return true;
      }
      if (message != null) {
        stream.replayed(replayId, message);
      }
    }
    return false;
  }

  @Override
  public boolean canReplay() {
    return rehearsal.isRecorded() ? answered.getAsBoolean() : rehearsal.replays();
  }

  @Override
  public void replay(long replayId, long fromSequence, boolean repairs) {
    wantedReplay = replayId;
    wantedFrom = fromSequence;
  }

  @Override
  public void reopen() {}

  private static EngineRules rules(CaptureStream recorded, EngineDialect dialect) {
    int droppedBlocks = number(recorded.config("dropped_blocks"), 0);
    CopyCounting removals =
        Stream.of(CopyCounting.values())
            .filter(known -> known.name().equals(recorded.config("removals")))
            .findFirst()
            .orElse(dialect.removals());
    SglangRules sglang =
        new SglangRules(
            namespaces(recorded),
            number(recorded.config("load_back_threshold"), SglangRules.LOAD_BACK_TOKENS));
    return new EngineRules(dialect, droppedBlocks, removals, 0).with(sglang);
  }

  private static int number(@Nullable Object value, int otherwise) {
    if (value instanceof Long number && number >= 0 && number <= Integer.MAX_VALUE) {
      return number.intValue();
    }
    if (value instanceof String text && text.matches("\\d{1,9}")) {
      return Integer.parseInt(text);
    }
    return otherwise;
  }

  private static Collection<String> texts(@Nullable Object value) {
    if (!(value instanceof List<?> list)) {
      return List.of();
    }
    return list.stream().filter(String.class::isInstance).map(String.class::cast).toList();
  }

  /**
   * The last batches of one lifetime of an engine, by number, as its replay socket has them.
   *
   * <p>Confined to its user's thread.
   */
  static final class ReplayBuffer {

    private final int maxBatches;
    private final TreeMap<Long, StreamMessage> batches = new TreeMap<>();
    private long lastPublished = -1;

    public ReplayBuffer(int maxBatches) {
      this.maxBatches = maxBatches;
    }

    /** Adds what was just published; a number that does not grow begins a new lifetime. */
    public void published(StreamMessage batch) {
      if (batch.sequence() <= lastPublished) {
        batches.clear();
      }
      lastPublished = batch.sequence();
      add(batch);
    }

    /** Adds what the recorded engine had although it was not heard live. */
    public void add(StreamMessage batch) {
      batches.put(batch.sequence(), batch);
      if (batches.size() > maxBatches) {
        batches.pollFirstEntry();
      }
    }

    /** What there is from a number on. */
    public Collection<StreamMessage> from(long sequence) {
      return batches.tailMap(sequence).values();
    }
  }
}
