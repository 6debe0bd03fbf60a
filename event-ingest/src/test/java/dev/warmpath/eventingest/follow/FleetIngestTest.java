package dev.warmpath.eventingest.follow;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.UnixOperatingSystemMXBean;
import dev.warmpath.eventingest.Await;
import dev.warmpath.eventingest.Clocks;
import dev.warmpath.eventingest.EngineDialect;
import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.eventingest.EngineStatus;
import dev.warmpath.eventingest.StreamCounter;
import dev.warmpath.eventingest.TestEngine;
import dev.warmpath.eventingest.TestPublisher;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.eventingest.follow.IngestOptions.BackoffLimits;
import dev.warmpath.eventingest.follow.IngestOptions.RingLimits;
import dev.warmpath.eventingest.stream.StreamLimits;
import dev.warmpath.eventingest.transport.Descriptors;
import dev.warmpath.eventingest.transport.ReplayLimits;
import dev.warmpath.eventingest.wire.ColumnsOf;
import dev.warmpath.eventingest.wire.StreamMessage;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.kvindex.runs.RunKvIndex;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/** Many engines on real sockets on the loopback, without replay sockets: nothing may be missed. */
@Timeout(120)
final class FleetIngestTest {

  private static final int BATCHES = 40;

  /** Writer, poller, and the two threads of the ZeroMQ library. */
  private static final int THREADS = 4;

  private final ZContext context = new ZContext();
  private final KvIndex index = new RunKvIndex(IndexLimits.unbounded(1000));
  private final List<ZMQ.Socket> sockets = new ArrayList<>();
  private final List<TestEngine> engines = new ArrayList<>();
  private volatile boolean floods = true;
  private volatile boolean answers = true;
  private volatile int replayable = 1;

  @AfterEach
  void close() {
    context.close();
  }

  @Test
  void everyBlockOfManyEnginesIsSeenByAFewThreads() {
    publishers(128);
    Set<Thread> before = new HashSet<>(Thread.getAllStackTraces().keySet());
    IngestOptions onePoller =
        new IngestOptions(
            1,
            RingLimits.DEFAULT,
            IngestOptions.DEFAULT.replay(),
            BackoffLimits.DEFAULT,
            IngestOptions.DEFAULT.stream());
    try (EventIngest ingest = new EventIngest(index, Clocks.ofTheMachine(), onePoller)) {
      join(ingest);
      Set<Thread> added = new HashSet<>(Thread.getAllStackTraces().keySet());
      added.removeAll(before);
      added.removeIf(thread -> thread.getName().startsWith("CompletableFutureDelay"));
      assertThat(added).hasSizeLessThanOrEqualTo(THREADS);

      for (int batch = 1; batch <= BATCHES; batch++) {
        for (int engine = 0; engine < engines.size(); engine++) {
          send(engine, batch, engines.get(engine).serve(prompt(engine, batch)).payload(batch));
        }
      }
      Await.until(
          "all is applied",
          () -> ingest.status().stream().allMatch(status -> status.lastSequence() == BATCHES));
      ingest.settle();
      for (EngineStatus status : ingest.status()) {
        assertThat(status.trust()).isEqualTo(Trust.EXACT);
        int engine = Integer.parseInt(status.id().replica());
        for (int batch = 0; batch <= BATCHES; batch++) {
          assertThat(predicted(status, prompt(engine, batch))).isEqualTo(16);
        }
      }
    }
  }

  /** Each alone, as one that is read only when another one has something is not heard in time. */
  @Test
  void whoStaysIsHeardWhenAnotherHasLeft() {
    publishers(3);
    try (EventIngest ingest = new EventIngest(index, Clocks.ofTheMachine())) {
      join(ingest);
      AtomicBoolean closed = new AtomicBoolean();
      sockets.get(0).setEventHook(event -> closed.set(true), ZMQ.EVENT_DISCONNECTED);
      ingest.remove(new EngineId("0", 0));
      Await.until("its socket is closed", closed::get);
      for (int batch = 1; batch <= 3; batch++) {
        for (int engine = 1; engine < engines.size(); engine++) {
          int sequence = batch;
          String name = Integer.toString(engine);
          send(engine, batch, engines.get(engine).serve(prompt(engine, batch)).payload(batch));
          Await.until(name + " is heard", () -> status(ingest, name).lastSequence() == sequence);
        }
      }
    }
  }

  @Test
  void anEngineThatFloodsKeepsNobodyElsesBatchesOut() throws InterruptedException {
    publishers(2);
    RingLimits narrow = new RingLimits(16, 1 << 20, 1 << 20);
    try (EventIngest ingest =
        new EventIngest(index, Clocks.ofTheMachine(), IngestOptions.DEFAULT.with(narrow))) {
      join(ingest);
      Thread hostile = new Thread(this::flood);
      hostile.start();
      for (int batch = 1; batch <= BATCHES; batch++) {
        int sequence = batch;
        send(0, batch, engines.get(0).serve(prompt(0, batch)).payload(batch));
        Await.until("the next batch", () -> status(ingest, "0").lastSequence() == sequence);
      }
      Await.until(
          "the flood is too much", () -> status(ingest, "1").counters().get("queue_overflows") > 0);
      floods = false;
      hostile.join();

      EngineStatus quiet = status(ingest, "0");
      assertThat(quiet.trust()).isEqualTo(Trust.EXACT);
      assertThat(quiet.counters().get("queue_overflows")).isZero();
      Await.until("it is never silent", () -> status(ingest, "1").trust() == Trust.SUSPECT);
      assertThat(status(ingest, "1").ring().maxMessages()).isEqualTo(16);
    }
  }

  /** More than a thousand sockets' worth: each has a gap, which its replay socket fills. */
  @Test
  void gapsOfFourHundredEnginesAreRepaired() throws InterruptedException {
    context.getContext().setMaxSockets(1_000);
    publishers(400);
    List<ZMQ.Socket> routers = new ArrayList<>();
    for (int i = 0; i < engines.size(); i++) {
      ZMQ.Socket router = context.createSocket(SocketType.ROUTER);
      router.setLinger(0);
      router.bind("tcp://127.0.0.1:*");
      routers.add(router);
      engines.get(i).serve(prompt(i, 1)).serve(prompt(i, 2));
    }
    List<String> replayEndpoints = routers.stream().map(ZMQ.Socket::getLastEndpoint).toList();
    Thread replies = new Thread(() -> answerReplays(routers), "test-replays");
    replies.start();
    long openBefore = openDescriptors();
    try (EventIngest ingest = new EventIngest(index, Clocks.ofTheMachine())) {
      for (int i = 0; i < engines.size(); i++) {
        ingest.add(
            new EngineSource(
                new EngineId(Integer.toString(i), 0),
                "m",
                sockets.get(i).getLastEndpoint(),
                false,
                replayEndpoints.get(i),
                EngineDialect.VLLM));
      }
      awaitBlocks(ingest, 4);
      replayable = 3;
      for (int i = 0; i < engines.size(); i++) {
        send(i, 2, engines.get(i).payload(2)); // batch 1 is never sent
      }
      awaitBlocks(ingest, 12);
      long publishers = engines.size(); // their ends of the connections are this process's too
      Await.until(
          "as few are open as the doctor reckons with",
          () -> openDescriptors() - openBefore - publishers <= Descriptors.needed(engines.size()));
      for (EngineStatus status : ingest.status()) {
        int engine = Integer.parseInt(status.id().replica());
        assertThat(predicted(status, prompt(engine, 1))).as(status.id().replica()).isEqualTo(16);
      }
    } finally {
      answers = false;
      replies.join();
    }
  }

  @Test
  void checksThatNobodyAnswersHoldUpNoRepair() {
    Duration forever = Duration.ofMinutes(5);
    StreamLimits usual = StreamLimits.DEFAULT;
    IngestOptions impatient =
        new IngestOptions(
            1,
            RingLimits.DEFAULT,
            new ReplayLimits(1, forever, forever, 1_000, 1 << 20),
            BackoffLimits.DEFAULT,
            new StreamLimits(
                usual.bufferedBatches(),
                usual.bufferedBytes(),
                usual.replayAttempts(),
                usual.replayCooldown(),
                Duration.ofMillis(100)));
    TestEngine engine = new TestEngine().serve(prompt(0, 0));
    engine.serve(prompt(0, 1)).serve(prompt(0, 2));
    try (TestPublisher silent = new TestPublisher(3);
        TestPublisher gapped = new TestPublisher(3);
        EventIngest ingest = new EventIngest(index, Clocks.ofTheMachine(), impatient)) {
      EngineId silentId = follow(ingest, "silent", silent);
      EngineId gappedId = follow(ingest, "gapped", gapped);
      gapped.keep(engine.payload(0));
      Await.until(
          "it is heard",
          () -> {
            gapped.send(0, engine.payload(0));
            return ingest.count(gappedId, StreamCounter.DUPLICATES) > 0;
          });
      Await.until("it answers", () -> trust(ingest, silentId) == Trust.EXACT);
      silent.holdAnswers(true);
      Await.until("a check waits for its answer", silent::holdsAnAnswer);

      gapped.keep(engine.payload(1));
      gapped.publish(engine.payload(2));
      Await.until(
          "the gap is repaired",
          () ->
              ingest.count(gappedId, StreamCounter.BLOCKS_STORED) == 12
                  && trust(ingest, gappedId) == Trust.EXACT);
      silent.holdAnswers(false);
    }
  }

  private static EngineId follow(EventIngest ingest, String name, TestPublisher publisher) {
    EngineId id = new EngineId(name, 0);
    ingest.add(
        new EngineSource(
            id, "m", publisher.endpoint(), false, publisher.replayEndpoint(), EngineDialect.VLLM));
    return id;
  }

  private static Trust trust(EventIngest ingest, EngineId id) {
    return Objects.requireNonNull(ingest.view(id)).trust();
  }

  private static long openDescriptors() {
    return ((UnixOperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
        .getOpenFileDescriptorCount();
  }

  private void awaitBlocks(EventIngest ingest, long blocks) {
    for (int i = 0; i < engines.size(); i++) {
      EngineId id = new EngineId(Integer.toString(i), 0);
      Await.until(
          "engine " + i + " is exact with as many blocks as it stored: " + blocks,
          () ->
              ingest.count(id, StreamCounter.BLOCKS_STORED) == blocks
                  && trust(ingest, id) == Trust.EXACT);
    }
  }

  private void answerReplays(List<ZMQ.Socket> routers) {
    try (ZMQ.Poller poller = context.createPoller(routers.size())) {
      routers.forEach(router -> poller.register(router, ZMQ.Poller.POLLIN));
      while (answers) {
        poller.poll(20);
        for (int i = 0; i < routers.size(); i++) {
          if (poller.pollin(i)) {
            answerReplay(routers.get(i), i);
          }
        }
      }
    }
  }

  private void answerReplay(ZMQ.Socket router, int engine) {
    byte[] peer = router.recv();
    router.recv();
    long from = ByteBuffer.wrap(router.recv()).getLong();
    for (long sequence = from; sequence < replayable; sequence++) {
      reply(router, peer, sequence, engines.get(engine).payload((int) sequence));
    }
    reply(router, peer, -1, new byte[0]);
  }

  private static void reply(ZMQ.Socket router, byte[] peer, long sequence, byte[] payload) {
    router.sendMore(peer);
    router.sendMore(new byte[0]);
    router.sendMore(StreamMessage.sequenceFrame(sequence));
    router.send(payload);
  }

  private void flood() {
    byte[] store = ColumnsOf.payload(256);
    for (long sequence = 1; floods; sequence++) {
      send(1, sequence, store);
    }
  }

  private void publishers(int count) {
    for (int i = 0; i < count; i++) {
      ZMQ.Socket socket = context.createSocket(SocketType.PUB);
      socket.setHandshakeIvl(500);
      socket.setSndHWM(10_000);
      socket.setLinger(0);
      socket.bind("tcp://127.0.0.1:*");
      sockets.add(socket);
      engines.add(new TestEngine().serve(prompt(i, 0)));
    }
  }

  /** Follows all, and makes sure that each connection delivers. */
  private void join(EventIngest ingest) {
    for (int i = 0; i < engines.size(); i++) {
      EngineId id = new EngineId(Integer.toString(i), 0);
      String endpoint = sockets.get(i).getLastEndpoint();
      ingest.add(new EngineSource(id, "m", endpoint, false, null, EngineDialect.VLLM));
    }
    Await.until(
        "all connections deliver",
        () -> {
          sockets.forEach(socket -> socket.send(new byte[] {1}));
          return ingest.status().stream()
              .allMatch(status -> status.counters().get("bad_messages") > 0);
        });
    for (int i = 0; i < engines.size(); i++) {
      send(i, 0, engines.get(i).payload(0));
    }
    Await.until(
        "batch 0 of all is applied",
        () -> ingest.status().stream().allMatch(status -> status.lastSequence() == 0));
  }

  private void send(int engine, long sequence, byte[] payload) {
    ZMQ.Socket socket = sockets.get(engine);
    socket.sendMore(new byte[0]);
    socket.sendMore(StreamMessage.sequenceFrame(sequence));
    socket.send(payload);
  }

  private static int[] prompt(int engine, int batch) {
    int first = 100_000 * (1 + engine) + 100 * batch;
    return IntStream.range(first, first + 17).toArray();
  }

  private static EngineStatus status(EventIngest ingest, String replica) {
    return ingest.status().stream()
        .filter(status -> status.id().replica().equals(replica))
        .findFirst()
        .orElseThrow();
  }

  private int predicted(EngineStatus status, int[] prompt) {
    ChainSpace space = Objects.requireNonNull(status.space());
    PrefixMatches matches = new PrefixMatches();
    index.match(BlockChain.of(space, prompt, PromptKeys.NONE), matches);
    return matches.tokens(status.slot());
  }
}
