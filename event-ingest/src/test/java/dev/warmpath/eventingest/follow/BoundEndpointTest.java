package dev.warmpath.eventingest.follow;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.Await;
import dev.warmpath.eventingest.Clocks;
import dev.warmpath.eventingest.EngineDialect;
import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.eventingest.EngineStatus;
import dev.warmpath.eventingest.TestEngine;
import dev.warmpath.eventingest.TestPublisher;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.eventingest.snapshot.Recovery;
import dev.warmpath.eventingest.snapshot.RestoredEngines;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.kvindex.runs.RunKvIndex;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/** An engine that connects to a port of ours, to which anything else may connect too. */
@Timeout(120)
final class BoundEndpointTest {

  private static final EngineId ID = new EngineId("r", 0);
  private static final int[] A = IntStream.range(0, 17).toArray();
  private static final int[] B = IntStream.range(100, 117).toArray();
  private static final int[] C = IntStream.range(200, 217).toArray();

  private final List<String> connections = new CopyOnWriteArrayList<>();
  private final KvIndex index = new RunKvIndex(IndexLimits.unbounded(1000));
  private final EventIngest ingest =
      new EventIngest(
          index,
          Clocks.ofTheMachine(),
          IngestOptions.DEFAULT,
          CompletableFuture.completedFuture(
              new RestoredEngines(index, null, new Recovery(System::nanoTime))),
          new StreamTap() {
            @Override
            public void connected(EngineId engine) {
              connections.add("up");
            }

            @Override
            public void disconnected(EngineId engine) {
              connections.add("down");
            }
          });
  private final TestEngine engine = new TestEngine();
  private String endpoint = "";

  @BeforeEach
  void bind() {
    ingest.add(new EngineSource(ID, "m", "tcp://127.0.0.1:*", true, null, EngineDialect.VLLM));
    Await.until("bound", () -> ingest.boundEndpoint(ID) != null);
    endpoint = Objects.requireNonNull(ingest.boundEndpoint(ID));
  }

  @AfterEach
  void close() {
    ingest.close();
  }

  @Test
  void strayConnectionsChangeNothing() throws IOException {
    try (TestPublisher publisher = followed()) {
      stray("").close();
      publishNext(publisher);
      try (Socket stray = stray("")) {
        assertThat(stray.getInputStream().read()).as("it is accepted").isNotNegative();
      }
      publishNext(publisher);
      try (Socket stray = stray("")) {
        assertThat(stray.getInputStream().readAllBytes()).as("silent until cut off").isNotEmpty();
      }
      publishNext(publisher);
      try (Socket stray = stray("GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n")) {
        assertThat(stray.getInputStream().read()).isNotNegative();
      }
      publishNext(publisher);
      try (ZContext context = new ZContext()) {
        subscribedTo(context);
        publishNext(publisher);
      }
      publishNext(publisher);

      assertThat(status().trust()).isEqualTo(Trust.EXACT);
      assertThat(predicted(A)).isEqualTo(16);
    }
    awaitLoss();
    assertThat(connections).containsExactly("up", "down");
    assertThat(counter("reconnects")).isZero();
  }

  @Test
  void lossOfTheEngineIsSeenWhileAStrayOneIsConnected() {
    try (ZContext context = new ZContext()) {
      try (TestPublisher publisher = followed()) {
        subscribedTo(context);
        publishNext(publisher);
      }
      awaitLoss();
    }
  }

  @Test
  void engineOnAnotherConnectionMayBeAnotherProcess() {
    try (TestPublisher publisher = followed();
        TestPublisher other = TestPublisher.connecting(endpoint)) {
      assertThat(predicted(A)).isEqualTo(16);
      TestEngine successor = new TestEngine().serve(C).serve(B);
      Await.until(
          "its batch 1 is heard, which would be the next of the first",
          () -> {
            other.send(1, successor.payload(1));
            return status().lastSequence() == 1;
          });
      ingest.settle();

      assertThat(predicted(A)).isZero();
      assertThat(predicted(B)).isEqualTo(16);
      assertThat(counter("reconnects")).isEqualTo(1);
      assertThat(status().trust()).isEqualTo(Trust.SUSPECT);
      publisher.send(0, engine.payload(0));
    }
  }

  @Test
  void engineThatComesBackAsAnotherProcessIsLearnedAnew() throws IOException {
    followed().close();
    awaitLoss();
    try (Socket stray = stray("GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n")) {
      assertThat(stray.getInputStream().read()).as("it is no engine").isNotNegative();
    }
    engine.restart().serve(B);
    try (TestPublisher publisher = TestPublisher.connecting(endpoint)) {
      hear(publisher);

      assertThat(status().trust()).isEqualTo(Trust.EXACT);
      assertThat(predicted(A)).isZero();
      assertThat(predicted(B)).isEqualTo(16);
      assertThat(connections).containsExactly("up", "down", "up");
    }
  }

  /** An engine whose first batch, with A, is known. */
  private TestPublisher followed() {
    engine.serve(A);
    TestPublisher publisher = TestPublisher.connecting(endpoint);
    hear(publisher);
    assertThat(status().trust()).isEqualTo(Trust.EXACT);
    return publisher;
  }

  private void hear(TestPublisher publisher) {
    Await.until(
        "the first batch is heard",
        () -> {
          publisher.send(0, engine.payload(0));
          ingest.settle();
          return predicted(engine.restarts() == 0 ? A : B) == 16;
        });
    ingest.settle(); // the index shows a batch before the trust does
  }

  private void publishNext(TestPublisher publisher) {
    int sequence = engine.serve(B).lastSequence();
    publisher.send(sequence, engine.payload(sequence));
    Await.until("batch " + sequence, () -> status().lastSequence() == sequence);
    ingest.settle();
  }

  private Socket stray(String sent) throws IOException {
    Socket socket = new Socket("127.0.0.1", URI.create(endpoint).getPort());
    socket.setSoTimeout(20_000);
    socket.getOutputStream().write(sent.getBytes(US_ASCII));
    return socket;
  }

  /** A publisher of something else, which has been subscribed to. */
  private void subscribedTo(ZContext context) {
    ZMQ.Socket stray = context.createSocket(SocketType.XPUB);
    stray.setLinger(0);
    stray.connect(endpoint);
    stray.recv();
  }

  private void awaitLoss() {
    Await.until("the loss is seen", () -> status().trust() == Trust.SUSPECT);
    assertThat(status().reason()).isEqualTo("connection lost");
  }

  private EngineStatus status() {
    return ingest.status().get(0);
  }

  private long counter(String name) {
    return Objects.requireNonNull(status().counters().get(name));
  }

  private int predicted(int[] prompt) {
    ChainSpace space = status().space();
    if (space == null) {
      return 0;
    }
    PrefixMatches matches = new PrefixMatches();
    index.match(BlockChain.of(space, prompt, PromptKeys.NONE), matches);
    return matches.tokens(status().slot());
  }
}
