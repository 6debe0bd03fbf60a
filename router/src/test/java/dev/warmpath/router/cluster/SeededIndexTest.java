package dev.warmpath.router.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.Clocks;
import dev.warmpath.eventingest.EngineDialect;
import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.eventingest.EngineStatus;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.eventingest.follow.EventIngest;
import dev.warmpath.eventingest.follow.IngestOptions;
import dev.warmpath.eventingest.follow.StreamTap;
import dev.warmpath.eventingest.snapshot.EngineFate;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.router.RestoredState;
import dev.warmpath.router.cluster.WarmStart.Outcome;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.rig.EventFeed;
import dev.warmpath.router.rig.Rig;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Routers that hear engines over real sockets, and seed each other over a link in memory. */
@Timeout(120)
final class SeededIndexTest {

  private static final int ENGINES = 3;
  private static final int TOKENS = 64;

  @TempDir private Path folder;

  private final Random random = new Random(1);
  private final List<EventFeed> feeds = new ArrayList<>();
  private final List<List<int[]>> prompts = new ArrayList<>();
  private final Map<RouterId, Router> routers = new ConcurrentHashMap<>();
  private final ExecutorService work = Executors.newFixedThreadPool(3);

  SeededIndexTest() {
    for (int i = 0; i < ENGINES; i++) {
      feeds.add(new EventFeed());
      prompts.add(new ArrayList<>());
    }
  }

  @AfterEach
  void end() {
    routers.values().forEach(Router::close);
    work.shutdownNow();
    feeds.forEach(EventFeed::close);
  }

  @Test
  void newRouterKnowsWhatItsNeighbourKnowsAlthoughNoReplayReachesBack() {
    Router first = seeded();
    Router second = new Router("second", UnaryOperator.identity());
    second.meet();
    second.awaitOutcome();

    assertThat(second.all.outcome()).isEqualTo(Outcome.SEEDED);
    publish(50);
    agree(first, second);
    assertThat(second.recovery()).isEqualTo(Map.of(EngineFate.KEPT, ENGINES));
    for (EngineStatus engine : second.ingest.status()) {
      assertThat(engine.trust()).isEqualTo(first.status(engine.id()).trust());
      assertThat(engine.counters().getOrDefault("replays", 0L)).isZero();
      assertThat(engine.counters().get("batches")).as("only what came behind").isLessThan(2_000L);
    }
  }

  @Test
  void damagedSnapshotIsRefusedAndThatOfAnotherTaken() {
    Router first = seeded();
    Router liar =
        new Router(
            "liar",
            message -> {
              if (SeedMessage.decode(message) instanceof SeedMessage.Chunk chunk) {
                byte[] bytes = chunk.bytes().clone();
                bytes[bytes.length / 2] ^= 1;
                return SeedMessage.encode(
                    new SeedMessage.Chunk(chunk.attempt(), chunk.chunk(), bytes));
              }
              return message;
            });
    liar.meet();
    liar.awaitOutcome();
    assertThat(liar.all.outcome()).isEqualTo(Outcome.SEEDED);
    routers.remove(first.id);
    Router alone = new Router("alone", UnaryOperator.identity());
    alone.meet();
    publishUntil(() -> alone.all.receivedBytes() > 3 * SeedMessage.CHUNK_BYTES);
    assertThat(alone.all.outcome()).as("it got only damaged ones").isEqualTo(Outcome.WAITING);
    routers.put(first.id, first);
    alone.meet();
    alone.awaitOutcome();

    assertThat(alone.all.outcome()).isEqualTo(Outcome.SEEDED);
    publish(20);
    agree(first, alone);
  }

  /** A router that has heard all from the beginning. */
  private Router seeded() {
    Router first = new Router("first", UnaryOperator.identity());
    first.meet();
    first.awaitOutcome();
    assertThat(first.all.outcome()).isEqualTo(Outcome.NOBODY_HAS_STATE);
    publishUntil(
        () -> first.ingest.status().stream().allMatch(engine -> engine.lastSequence() >= 0));
    for (int part = 0; part < 20; part++) {
      publish(100);
      Rig.until(first::hasAll); // a feed drops what its subscriber does not take
    }
    first.ready = true;
    return first;
  }

  private void publish(int rounds) {
    for (int round = 0; round < rounds; round++) {
      for (int i = 0; i < ENGINES; i++) {
        int[] prompt = random.ints(TOKENS, 0, 50_000).toArray();
        prompts.get(i).add(prompt);
        feeds.get(i).stored(prompt);
      }
    }
  }

  private void publishUntil(BooleanSupplier done) {
    Rig.until(() -> {
      publish(1);
      routers.values().forEach(router -> router.all.tick(() -> false));
      return done.getAsBoolean();
    });
  }

  /** Both credit each engine with the same of every prompt. */
  private void agree(Router one, Router other) {
    Rig.until(() -> one.hasAll() && other.hasAll());
    for (EngineStatus engine : one.ingest.status()) {
      int i = engine.id().replica().charAt(0) - '0';
      int credited = 0;
      for (int[] prompt : prompts.get(i)) {
        int tokens = one.predicted(engine.id(), prompt);
        credited += tokens > 0 ? 1 : 0;
        assertThat(other.predicted(engine.id(), prompt)).isEqualTo(tokens);
      }
      assertThat(credited).isGreaterThan(2_000);
    }
  }

  /** One router's share of it: an ingest, its index and its neighbours. */
  private final class Router implements AutoCloseable {
    private final RouterId id;
    private final RestoredState state;
    private final EventIngest ingest;
    private final Neighbours all;
    private volatile boolean ready;

    /**
     * @param distorted what becomes of its messages on the way
     */
    Router(String name, UnaryOperator<byte[]> distorted) {
      id = new RouterId(name, 1);
      try {
        RouterConfig.Snapshot config =
            ConfigTree.empty()
                .set("snapshot.enabled", false, "test")
                .set("listen.port", 0, "test")
                .config()
                .snapshot();
        state =
            RestoredState.open(
                config, null, IndexLimits.unbounded(1 << 20), Clock.systemUTC(), System::nanoTime);
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
      ingest =
          new EventIngest(
              state.index(),
              Clocks.ofTheMachine(),
              IngestOptions.DEFAULT,
              state.engines(),
              StreamTap.NONE);
      all =
          new Neighbours(
              new Neighbours.Environment(
                  (to, message) -> send(to, distorted.apply(message)),
                  work,
                  System::nanoTime,
                  folder),
              state.source(ingest, () -> ready, System::nanoTime),
              state.graft(ingest, outcome -> ready |= outcome == Outcome.SEEDED),
              1 << 30,
              60_000);
      for (int i = 0; i < ENGINES; i++) {
        ingest.add(
            new EngineSource(
                new EngineId(i + "", 0),
                "m",
                feeds.get(i).endpoint(),
                false,
                null,
                EngineDialect.VLLM));
      }
      routers.put(id, this);
    }

    private void send(RouterId to, byte[] message) {
      Router receiver = routers.get(to);
      if (receiver != null && !work.isShutdown()) {
        work.execute(() -> receiver.all.received(id, message));
      }
    }

    void meet() {
      for (Router router : routers.values()) {
        Set<RouterId> others = ConcurrentHashMap.newKeySet();
        others.addAll(routers.keySet());
        others.remove(router.id);
        router.all.reachable(others);
      }
    }

    void awaitOutcome() {
      publishUntil(() -> all.outcome() != Outcome.WAITING);
    }

    Map<EngineFate, Integer> recovery() {
      Rig.until(() -> state.recovery().report().over());
      return state.recovery().report().engines();
    }

    EngineStatus status(EngineId engine) {
      return ingest.status().stream()
          .filter(status -> status.id().equals(engine))
          .findFirst()
          .orElseThrow();
    }

    boolean hasAll() {
      ingest.settle();
      return ingest.status().stream()
          .allMatch(engine ->
              engine.trust() != Trust.CATCHING_UP
                  && engine.lastSequence()
                      == prompts.get(engine.id().replica().charAt(0) - '0').size() - 1);
    }

    int predicted(EngineId engine, int[] prompt) {
      EngineStatus status = status(engine);
      ChainSpace space = status.space();
      if (space == null) {
        return 0;
      }
      PrefixMatches matches = new PrefixMatches();
      state.index().match(BlockChain.of(space, prompt, PromptKeys.NONE), matches);
      return matches.tokens(status.slot());
    }

    @Override
    public void close() {
      all.close();
      ingest.close();
    }
  }
}
