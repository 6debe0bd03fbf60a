package dev.warmpath.simulator.fault;

import dev.warmpath.eventingest.EngineDialect;
import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.eventingest.ReportedReuse;
import dev.warmpath.eventingest.StreamCounter;
import dev.warmpath.eventingest.StreamCounters;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.eventingest.apply.EventApplier;
import dev.warmpath.eventingest.snapshot.EngineFate;
import dev.warmpath.eventingest.snapshot.EngineSnapshot;
import dev.warmpath.eventingest.snapshot.EngineSnapshot.Identity;
import dev.warmpath.eventingest.snapshot.IngestSnapshot;
import dev.warmpath.eventingest.snapshot.Recovery;
import dev.warmpath.eventingest.snapshot.RestoredEngines;
import dev.warmpath.eventingest.snapshot.RestoredEngines.Adopted;
import dev.warmpath.eventingest.stream.EngineStream;
import dev.warmpath.eventingest.stream.StreamLimits;
import dev.warmpath.eventingest.stream.StreamSockets;
import dev.warmpath.eventingest.wire.StreamMessage;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.IndexTotals;
import dev.warmpath.kvindex.KvIndex.EngineStats;
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
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * An engine, the wire, the stream that follows it and the index, in one thread and a time of its
 * own; faults are done to the wire and the engine.
 */
final class FaultRig implements StreamSockets {

  /** Batches that the engine keeps for replays. */
  static final int REPLAYED_BATCHES = 40;

  /** Blocks whose parents are unknown that the index keeps. */
  static final int MAX_ORPHANS = 1000;

  private static final int PROMPTS = 90;

  /** What another process has left. */
  private record Content(RunKvIndex index, IngestSnapshot ingest) {}

  private static final IngestSnapshot NOTHING = new IngestSnapshot(Instant.EPOCH, List.of());
  private static final long SEED = 20_261_121;
  private static final StreamLimits LIMITS =
      new StreamLimits(256, 1 << 20, 3, Duration.ofSeconds(30), Duration.ofSeconds(30));

  final FaultyEngine engine;
  final StreamCounters counters = new StreamCounters();
  final EngineStream stream;
  final List<Trust> path = new ArrayList<>();
  private final Form form;
  private final RunKvIndex index;
  private final boolean canReplay;
  private final Random random = new Random(SEED);

  /** Time that has passed. */
  private long nanos;

  private final EventApplier applier;
  private final EngineSource source;
  private final Recovery recovery = new Recovery(System::nanoTime);
  private @Nullable FaultRig first;
  private int sent;
  private long askedId;
  private long askedFrom = -1;

  private GivenPrompts given = GivenPrompts.NOT_HASHED;
  private int answerTokens;
  private int answered;

  /** How many answers to replays from now on stop in the middle. */
  int cutReplays;

  private FaultRig(Form form, boolean canReplay, FaultyEngine engine) {
    this(form, canReplay, engine, new RunKvIndex(IndexLimits.unbounded(MAX_ORPHANS), 1), 0);
  }

  private FaultRig(Form form, boolean canReplay, FaultyEngine engine, RunKvIndex index, int rank) {
    this(form, canReplay, engine, new Content(index, NOTHING), rank);
  }

  private FaultRig(Form form, boolean canReplay, FaultyEngine engine, Content restored, int rank) {
    this.form = form;
    this.canReplay = canReplay;
    this.engine = engine;
    index = restored.index();
    String replay = canReplay ? "tcp://y" : null;
    source = new EngineSource(new EngineId("r", rank), "m", "tcp://x", false, replay, form.dialect);
    Adopted adopted = new RestoredEngines(index, restored.ingest(), recovery).adopt(source);
    applier =
        adopted == null
            ? new EventApplier(index, source, counters)
            : new EventApplier(index, source, counters, adopted.slot(), adopted.stream().learned());
    stream = new EngineStream(applier, this, LIMITS, () -> nanos, counters);
    if (adopted != null) {
      stream.resume(adopted.stream(), adopted.listener());
    }
  }

  /** Connected from the engine's first batch on, and some requests served. */
  static FaultRig live(Form form, boolean canReplay) {
    FaultRig rig = new FaultRig(form, canReplay, form.engine());
    rig.connect();
    rig.serve(150);
    rig.path.clear();
    rig.note();
    return rig;
  }

  /** The router's process is another one: nothing is known, the engine goes on. */
  FaultRig routerRestarted() {
    return new FaultRig(form, canReplay, engine).joining();
  }

  /** The same, with the snapshot that this one leaves, after batches that nobody heard. */
  FaultRig routerRestartedFromSnapshot(int missedBatches) {
    return routerRestartedFromSnapshot(missedBatches, () -> {});
  }

  /** The same, and something happens to the engine meanwhile. */
  FaultRig routerRestartedFromSnapshot(int missedBatches, Runnable meanwhile) {
    Content restored = restored();
    meanwhile.run();
    lose(missedBatches);
    return new FaultRig(form, canReplay, engine, restored, 0).joining();
  }

  /** A router that comes when another engine has published so many batches. */
  FaultRig joinedLate(int batches) {
    FaultRig late = new FaultRig(form, canReplay, form.engine());
    late.lose(batches);
    return late.joining();
  }

  private FaultRig joining() {
    sent = engine.published().size();
    note();
    connect();
    return this;
  }

  /** What another process reads of what this one writes. */
  private Content restored() {
    EngineSnapshot snapshot =
        new EngineSnapshot(
            Identity.of(source), applier.slot(), stats().namedBlocks(), stream.snapshot());
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try {
      new IngestSnapshot(Instant.EPOCH, List.of(snapshot)).writeTo(bytes, index, Integer.MAX_VALUE);
      RunKvIndex copy = new RunKvIndex(IndexLimits.unbounded(MAX_ORPHANS));
      return new Content(
          copy,
          IngestSnapshot.readFrom(
              new ByteArrayInputStream(bytes.toByteArray()),
              copy,
              new IngestSnapshot.Bounds(Integer.MAX_VALUE, Duration.ZERO, Instant.EPOCH)));
    } catch (IOException e) {
      throw new UncheckedIOException("a buffer in memory", e);
    }
  }

  /** The engine's metrics are read a few times. */
  void seeStart() {
    for (int i = 0; i < 3; i++) {
      stream.runsSince(engine.startSeconds());
    }
    settle();
  }

  /** What became of engines that a snapshot knew. */
  Set<EngineFate> fates() {
    return recovery.report().engines().keySet();
  }

  EngineFate fate() {
    return fates().iterator().next();
  }

  FaultyEngine newEngine() {
    return form.engine();
  }

  /** One more engine of the same replica, whose stream is followed beside this one. */
  FaultRig beside(FaultyEngine other) {
    other.rank = 1;
    FaultRig rig = new FaultRig(form, canReplay, other, index, other.rank);
    rig.first = this;
    rig.note();
    rig.connect();
    return rig;
  }

  void connect() {
    stream.connected();
    settle();
  }

  /** The connection breaks and comes back; what the engine published meanwhile is not heard. */
  void reconnect(int missedBatches) {
    stream.disconnected();
    note();
    lose(missedBatches);
    connect();
  }

  /** The engine serves requests, all of whose batches arrive. */
  void serve(int requests) {
    for (int i = 0; i < requests; i++) {
      give(null);
      carry();
    }
  }

  /** One prompt, with an answer if they have any. */
  private void give(@Nullable String lora) {
    int[] prompt = nextPrompt();
    given.given(applier, prompt, new PromptKeys(lora, null));
    int[] served = Arrays.copyOf(prompt, prompt.length + answerTokens);
    for (int i = prompt.length; i < served.length; i++) {
      served[i] = 1_000_000 + answered++;
    }
    engine.serve(served, lora);
  }

  /** From now on requests have answers, of which each block is new; the first prompt is, too. */
  FaultRig answering(GivenPrompts prompts) {
    given = prompts;
    answerTokens = 16;
    engine.serve(IntStream.range(2_000_000, 2_000_024).toArray(), null);
    carry();
    return this;
  }

  /** The engine serves requests until so many batches were published, none of which arrives. */
  void lose(int batches) {
    int size = engine.published().size() + batches;
    while (engine.published().size() < size) {
      engine.serve(nextPrompt(), null);
    }
    sent = size;
  }

  /** So many requests in name spaces that SGLang's events do not show, for rare prompts. */
  void serveHidden(int requests) {
    for (int i = 0; i < requests; i++) {
      engine.serveHidden(prompt(PROMPTS - 1 - 3 * i));
      carry();
    }
  }

  /** The same prompts in plain requests, whose answers tell how much of them was reused. */
  void serveAnswered(int requests) {
    for (int i = 0; i < requests; i++) {
      answer(prompt(PROMPTS - 1 - 3 * i));
    }
    pass(Duration.ofSeconds(2));
  }

  /** Whether there are name spaces that the engine's events do not show. */
  boolean hidesNamespaces() {
    return form.dialect == EngineDialect.SGLANG;
  }

  /** Serves until a batch with a removal is the last one, unread. */
  void serveSpoilt() {
    do {
      carry();
      engine.serve(nextPrompt(), null);
    } while (sent == engine.published().size() || !engine.spoilLastRemoval());
    carry();
  }

  /** Delivers what is published and not delivered. */
  void carry() {
    if (sent > engine.published().size()) {
      sent = 0;
    }
    while (sent < engine.published().size()) {
      deliver(sent++);
    }
  }

  /** Delivers the batches of the next requests in pairs, the later one first. */
  void serveSwapped(int requests) {
    for (int i = 0; i < requests; i++) {
      engine.serve(nextPrompt(), null);
      if (engine.published().size() - sent >= 2) {
        deliver(sent + 1);
        deliver(sent);
        sent += 2;
      }
    }
    carry();
  }

  /** Delivers batch {@code sequence} of this process, again or for the first time. */
  void deliver(int sequence) {
    stream.live(message(sequence));
    settle();
  }

  int lastSent() {
    return sent - 1;
  }

  /** Requests whose answers tell how much of the prompt was reused. */
  void serveProving(int requests) {
    for (int i = 0; i < requests; i++) {
      answer(nextPrompt());
    }
  }

  private void answer(int[] prompt) {
    boolean believed = stream.trust().trust() == Trust.EXACT;
    int predicted = believed ? predicted(prompt, null) : -1;
    int cached = engine.reusable(prompt, null);
    engine.serve(prompt, null);
    carry();
    ChainSpace space = applier.space();
    if (space != null) {
      BlockChain chain = BlockChain.of(space, prompt, PromptKeys.NONE);
      stream.reused(new ReportedReuse(chain, cached, predicted, nanos));
    }
  }

  /** Prompts of two adapters beside those of the base model. */
  void serveAdapters(int requests) {
    for (int i = 0; i < requests; i++) {
      give(i % 3 == 0 ? null : i % 3 == 1 ? "en" : "fr");
      carry();
    }
  }

  void serveTwice(int requests) {
    for (int i = 0; i < requests; i++) {
      engine.serveTwice(nextPrompt());
      carry();
    }
  }

  /** Requests go on and time passes, until whatever can heal is healed. */
  void converge() {
    for (int i = 0; i < 4; i++) {
      serve(25);
      nanos += LIMITS.replayCooldown().plusSeconds(1).toNanos();
      stream.tick();
      settle();
    }
  }

  /** Tokens credited, of all prompts and adapters; never more of one than the engine reuses. */
  Known known() {
    long credited = 0;
    long held = 0;
    long over = 0;
    for (int prompt = 0; prompt < PROMPTS; prompt++) {
      for (String lora : new String[] {"", "en", "fr"}) {
        @Nullable String name = lora.isEmpty() ? null : lora;
        int actual = engine.reusable(prompt(prompt), name);
        int predicted = predicted(prompt(prompt), name);
        held += actual;
        credited += predicted;
        over += Math.max(0, predicted - actual);
      }
    }
    Known own = new Known(credited, held, over);
    return first == null ? own : own.plus(first.known());
  }

  /**
   * @param credited tokens that the index says are reused
   * @param held tokens that the engine would reuse
   * @param over tokens credited and not held
   */
  record Known(long credited, long held, long over) {
    Known plus(Known other) {
      return new Known(credited + other.credited, held + other.held, over + other.over);
    }

    long percent() {
      return held == 0 ? 100 : Math.round(100.0 * credited / held);
    }
  }

  void pass(Duration duration) {
    nanos += duration.toNanos();
    stream.tick();
    settle();
  }

  /** Lets go of what nobody can ask for any more. */
  void forgetOldPayloads() {
    int old = engine.published().size() - REPLAYED_BATCHES;
    for (int i = 0; i < old; i++) {
      engine.published().set(i, new byte[0]);
    }
    path.clear();
  }

  EngineStats stats() {
    return index.stats(applier.slot());
  }

  IndexTotals totals() {
    return index.totals();
  }

  long count(StreamCounter counter) {
    return counters.get(counter);
  }

  @Override
  public boolean canReplay() {
    return canReplay;
  }

  @Override
  public void replay(long replayId, long fromSequence, boolean repairs) {
    askedId = replayId;
    askedFrom = fromSequence;
  }

  @Override
  public void reopen() {
    // The wire is the test's own: there is nothing to open.
  }

  private int predicted(int[] prompt, @Nullable String lora) {
    ChainSpace space = applier.space();
    if (space == null) {
      return 0;
    }
    PrefixMatches matches = new PrefixMatches();
    index.match(BlockChain.of(space, prompt, new PromptKeys(lora, null)), matches);
    return matches.tokens(applier.slot());
  }

  /** Answers questions until there is none, and notes every trust on the way. */
  private void settle() {
    note();
    while (askedFrom >= 0) {
      answerReplay();
      note();
    }
  }

  private void answerReplay() {
    long id = askedId;
    int size = engine.published().size();
    int first = (int) Math.max(askedFrom, size - REPLAYED_BATCHES);
    askedFrom = -1;
    boolean cut = cutReplays > 0;
    cutReplays -= cut ? 1 : 0;
    int end = cut ? first + (size - first) / 2 : size;
    for (int i = first; i < end; i++) {
      stream.replayed(id, message(i));
    }
    stream.replayEnded(id, !cut);
  }

  private void note() {
    Trust trust = stream.trust().trust();
    if (path.isEmpty() || path.get(path.size() - 1) != trust) {
      path.add(trust);
    }
  }

  private StreamMessage message(int sequence) {
    return new StreamMessage(sequence, engine.published().get(sequence));
  }

  /** Some prompts come often. */
  private int[] nextPrompt() {
    return prompt(Math.min(random.nextInt(PROMPTS), random.nextInt(PROMPTS)));
  }

  /** Prompts of three families, up to 100 tokens. */
  private static int[] prompt(int number) {
    int shared = 8 + number % 3 * 24;
    return IntStream.range(0, 41 + number * 37 % 60)
        .map(i -> i < shared ? 100 + number % 3 : 1000 * (number + 1) + i)
        .toArray();
  }
}
