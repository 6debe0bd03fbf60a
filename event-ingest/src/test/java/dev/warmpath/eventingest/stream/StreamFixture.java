package dev.warmpath.eventingest.stream;

import dev.warmpath.eventingest.EngineDialect;
import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.eventingest.MovableClock;
import dev.warmpath.eventingest.ReportedReuse;
import dev.warmpath.eventingest.StreamCounter;
import dev.warmpath.eventingest.StreamCounters;
import dev.warmpath.eventingest.TestEngine;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.eventingest.apply.EventApplier;
import dev.warmpath.eventingest.snapshot.EngineFate;
import dev.warmpath.eventingest.snapshot.EngineSnapshot;
import dev.warmpath.eventingest.snapshot.EngineSnapshot.Identity;
import dev.warmpath.eventingest.snapshot.IngestSnapshot;
import dev.warmpath.eventingest.snapshot.StreamSnapshot;
import dev.warmpath.eventingest.wire.StreamMessage;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.kvindex.runs.RunKvIndex;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.function.BiConsumer;
import java.util.function.Function;

/** A test engine, a stream that follows it, and a replay socket that the test works by hand. */
final class StreamFixture implements StreamSockets {

  private static final EngineSource SOURCE =
      new EngineSource(new EngineId("r", 0), "m", "tcp://x", false, null, EngineDialect.VLLM);
  static final StreamLimits LIMITS =
      new StreamLimits(64, 1 << 20, 2, Duration.ofSeconds(30), Duration.ofSeconds(30));

  private final EngineSource source;
  final TestEngine engine;
  final StreamCounters counters = new StreamCounters();
  final MovableClock clock = new MovableClock();
  final RunKvIndex index;
  final EventApplier applier;
  final EngineStream stream;
  boolean canReplay;
  long askedId;
  long askedFrom = -1;
  int reopened;
  int questions;

  StreamFixture(boolean canReplay) {
    this(canReplay, SOURCE);
  }

  StreamFixture(boolean canReplay, EngineSource source) {
    this.canReplay = canReplay;
    this.source = source;
    engine = new TestEngine();
    index = new RunKvIndex(IndexLimits.unbounded(1000));
    applier = new EventApplier(index, source, counters);
    stream = new EngineStream(applier, this, LIMITS, clock, counters);
  }

  private StreamFixture(
      StreamFixture before,
      RunKvIndex index,
      StreamSnapshot snapshot,
      BiConsumer<EngineFate, String> listener) {
    canReplay = before.canReplay;
    source = before.source;
    engine = before.engine;
    this.index = index;
    applier = new EventApplier(index, source, counters, before.applier.slot(), snapshot.learned());
    stream = new EngineStream(applier, this, LIMITS, clock, counters);
    stream.resume(snapshot, listener);
  }

  /** Another process that goes on with the index and the engine of this one. */
  StreamFixture resumed(StreamSnapshot snapshot, BiConsumer<EngineFate, String> listener) {
    return new StreamFixture(this, index, snapshot, listener);
  }

  /** What it knows now, for another process that follows the same engine beside this one. */
  Seed seed() {
    StreamSnapshot snapshot = Objects.requireNonNull(stream.snapshot());
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try {
      EngineSnapshot all =
          new EngineSnapshot(Identity.of(source), applier.slot(), 0, stream.snapshot());
      new IngestSnapshot(Instant.EPOCH, List.of(all)).writeTo(out, index, Integer.MAX_VALUE);
      RunKvIndex copy = new RunKvIndex(IndexLimits.unbounded(1000));
      IngestSnapshot.readFrom(
          new ByteArrayInputStream(out.toByteArray()),
          copy,
          new IngestSnapshot.Bounds(Integer.MAX_VALUE, Duration.ofDays(1), Instant.EPOCH));
      return new Seed(snapshot, listener -> new StreamFixture(this, copy, snapshot, listener));
    } catch (IOException e) {
      throw new UncheckedIOException("bytes in memory", e);
    }
  }

  /** A copy that others can go on with. */
  record Seed(
      StreamSnapshot snapshot, Function<BiConsumer<EngineFate, String>, StreamFixture> planted) {

    StreamFixture plant(BiConsumer<EngineFate, String> listener) {
      return planted.apply(listener);
    }
  }

  /** Connected, and the first replay answered. */
  static StreamFixture live(boolean canReplay) {
    return live(canReplay, SOURCE);
  }

  static StreamFixture live(boolean canReplay, EngineSource source) {
    StreamFixture fixture = new StreamFixture(canReplay, source);
    fixture.stream.connected();
    fixture.answer();
    return fixture;
  }

  /** The engine's batch arrives on the live connection. */
  void deliver(int sequence) {
    stream.live(message(sequence));
  }

  /** The engine's batch of this number. */
  StreamMessage message(int sequence) {
    return new StreamMessage(sequence, engine.payload(sequence));
  }

  void deliverLast() {
    deliver(engine.lastSequence());
  }

  /** Answers questions with all that the engine published, until it asks no more. */
  void answer() {
    answer(engine.published(), 0);
  }

  void answer(List<byte[]> published, int bufferBegin) {
    for (int rounds = 0; askedFrom >= 0 && rounds < 10; rounds++) {
      long id = askedId;
      long from = askedFrom;
      askedFrom = -1;
      for (int i = (int) Math.max(from, bufferBegin); i < published.size(); i++) {
        stream.replayed(id, new StreamMessage(i, published.get(i)));
      }
      stream.replayEnded(id, true);
    }
  }

  /** The replay socket says nothing, as often as it is asked. */
  void refuse() {
    while (askedFrom >= 0) {
      askedFrom = -1;
      stream.replayEnded(askedId, false);
    }
  }

  boolean asked() {
    return askedFrom >= 0;
  }

  Trust trust() {
    return stream.trust().trust();
  }

  long count(StreamCounter counter) {
    return counters.get(counter);
  }

  /** What the index credits the engine with. */
  int predicted(int... prompt) {
    PrefixMatches matches = new PrefixMatches();
    if (applier.space() != null) {
      index.match(chain(prompt), matches);
    }
    return matches.tokens(applier.slot());
  }

  /** The engine is seen to reuse so many tokens of a prompt that was sent at this time. */
  void reused(int[] prompt, int cachedTokens, long dispatchedNanos) {
    if (applier.space() != null) {
      stream.reused(new ReportedReuse(chain(prompt), cachedTokens, -1, dispatchedNanos));
    }
  }

  /** The blocks that the index keeps for the engine but does not believe. */
  long suspended() {
    return applier.stats().suspendedBlocks();
  }

  private BlockChain chain(int[] prompt) {
    ChainSpace space = Objects.requireNonNull(applier.space());
    return BlockChain.of(space, prompt, PromptKeys.NONE);
  }

  @Override
  public boolean canReplay() {
    return canReplay;
  }

  @Override
  public void replay(long replayId, long fromSequence, boolean repairs) {
    askedId = replayId;
    askedFrom = fromSequence;
    questions++;
  }

  @Override
  public void reopen() {
    reopened++;
  }
}
