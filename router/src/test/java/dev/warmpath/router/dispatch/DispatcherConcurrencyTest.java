package dev.warmpath.router.dispatch;

import static dev.warmpath.router.dispatch.World.prompt;
import static dev.warmpath.router.dispatch.World.request;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.fleet.Outcome;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.routing.Candidates;
import dev.warmpath.router.routing.Load;
import dev.warmpath.router.routing.Policies;
import dev.warmpath.router.routing.Policy;
import dev.warmpath.router.routing.RoutingRequest;
import dev.warmpath.router.routing.Score;
import dev.warmpath.tokenizer.PromptResult;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Many threads at once: nothing is lost, nothing is given back twice. */
class DispatcherConcurrencyTest {

  private static final int THREADS = 8;

  @ParameterizedTest
  @MethodSource("policies")
  void countersReturnToZeroAfterChaos(String policy) throws Exception {
    World world = new World(policy).with(4);
    atOnce(thread -> {
      Random random = new Random(thread);
      List<Assignment> open = new ArrayList<>();
      for (int i = 0; i < 500; i++) {
        step(world, random, open);
      }
      open.forEach(assignment -> assignment.finished(Outcome.CANCELLED));
      return null;
    });
    assertThat(world.dispatcher.report())
        .hasSize(4)
        .allSatisfy(report -> assertThat(report.state().load()).isEqualTo(Load.NONE));
    world.pass(60_000);
    assertThat(world.dispatcher.report())
        .allSatisfy(report -> assertThat(report.state().expectedBlocks().expected()).isZero());
  }

  private static List<String> policies() {
    return Policies.names();
  }

  private static void step(World world, Random random, List<Assignment> open) {
    switch (random.nextInt(5)) {
      case 0 -> {
        PromptResult prompt = prompt(160, 16 * random.nextInt(20), random.nextInt(4), 1);
        if (world.dispatcher.assign(request(prompt), Set.of()) instanceof Assignment assignment) {
          open.add(assignment);
        }
      }
      case 1 -> some(random, open).forEach(Assignment::firstToken);
      case 2 -> some(random, open).forEach(assignment -> assignment.usage(160, 16));
      case 3 -> {
        Outcome outcome = Outcome.values()[random.nextInt(Outcome.values().length)];
        some(random, open).forEach(assignment -> assignment.finished(outcome));
      }
      default -> {
        Replica replica = world.replica("r" + random.nextInt(4));
        replica.health(Replica.Health.values()[random.nextInt(2)]);
        world.pass(random.nextInt(50));
      }
    }
  }

  private static List<Assignment> some(Random random, List<Assignment> open) {
    return open.isEmpty() ? List.of() : List.of(open.get(random.nextInt(open.size())));
  }

  @Test
  void oneAssignmentEndedByManyThreadsIsGivenBackOnce() throws Exception {
    World world = new World("warm").with(1);
    Assignment kept = world.assign(prompt(160));
    for (int i = 0; i < 50; i++) {
      Assignment assignment = world.assign(prompt(320));
      atOnce(thread -> {
        assignment.firstToken();
        assignment.finished(Outcome.values()[thread % Outcome.values().length]);
        return null;
      });
    }
    assertThat(world.report("r0").state().load().requestsInFlight()).isEqualTo(1);
    kept.finished(Outcome.COMPLETED);
    assertThat(world.report("r0").state().load()).isEqualTo(Load.NONE);
    assertThat(world.heard).filteredOn(line -> line.startsWith("finished")).hasSize(51);
  }

  @Test
  void siblingsAtOnceSeeEachOther() throws Exception {
    // One after another or all at once, 96 equal requests are spread the same way.
    World serial = new World("least-requests").with(4);
    World parallel = new World("least-requests").with(4);
    for (int i = 0; i < 96; i++) {
      serial.assign(prompt(160));
    }
    atOnce(thread -> {
      for (int i = 0; i < 96 / THREADS; i++) {
        parallel.assign(prompt(160));
      }
      return null;
    });
    assertThat(inFlight(parallel))
        .isEqualTo(inFlight(serial))
        .isEqualTo(Map.of("r0", 24, "r1", 24, "r2", 24, "r3", 24));
  }

  @Test
  void everyChoiceSeesAllReservationsBeforeIt() throws Exception {
    World world = new World("least-requests").with(2);
    Queue<Integer> seen = new ConcurrentLinkedQueue<>();
    world.dispatcher.policy(watching(world.dispatcher.policy(), seen));
    PreparedRequest request = request("m", null);
    atOnce(thread -> {
      for (int i = 0; i < 3000; i++) {
        world.assign(request);
      }
      return null;
    });
    assertThat(seen).hasSize(3000 * THREADS).doesNotHaveDuplicates();
  }

  @Test
  void noReplicaGetsMoreThanItMay() throws Exception {
    World world = new World("least-requests", 1).with(1);
    AtomicInteger most = new AtomicInteger();
    PreparedRequest request = request("m", null);
    atOnce(thread -> {
      for (int i = 0; i < 3000; i++) {
        if (world.dispatcher.assign(request, Set.of()) instanceof Assignment assignment) {
          most.accumulateAndGet(assignment.replica().requests(), Math::max);
          assignment.finished(Outcome.COMPLETED);
        }
      }
      return null;
    });
    assertThat(most).hasValue(1);
  }

  /**
   * Chooses as {@code policy} does; of the choices that come true notes what they saw in flight.
   */
  private static Policy watching(Policy policy, Queue<Integer> seen) {
    return new Policy() {
      @Override
      public String name() {
        return policy.name();
      }

      @Override
      public int choose(RoutingRequest request, Candidates candidates) {
        return policy.choose(request, candidates);
      }

      @Override
      public String reason(RoutingRequest request, Candidates candidates, int winner) {
        seen.add(IntStream.range(0, candidates.count()).map(candidates::requests).sum());
        return policy.reason(request, candidates, winner);
      }

      @Override
      public Score score(RoutingRequest request, Candidates candidates, int row) {
        return policy.score(request, candidates, row);
      }
    };
  }

  @Test
  void warmSiblingsAtOnceStayTogetherLikeSiblingsInTurn() throws Exception {
    World parallel = new World("warm").with(4);
    atOnce(thread -> parallel.assign(prompt(8000, 100, 1, thread)));
    assertThat(inFlight(parallel).values()).containsExactlyInAnyOrder(0, 0, 0, THREADS);
  }

  private static Map<String, Integer> inFlight(World world) {
    Map<String, Integer> inFlight = new TreeMap<>();
    world
        .dispatcher
        .report()
        .forEach(report -> inFlight.put(report.engine(), report.state().load().requestsInFlight()));
    return inFlight;
  }

  /** What one of the threads does. */
  private interface Part {
    Object of(int thread) throws Exception;
  }

  private static void atOnce(Part part) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    CyclicBarrier start = new CyclicBarrier(THREADS);
    List<Callable<Object>> parts = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      int thread = i;
      parts.add(() -> {
        start.await();
        return part.of(thread);
      });
    }
    try {
      for (Future<Object> done : threads.invokeAll(parts)) {
        done.get();
      }
    } finally {
      threads.shutdownNow();
    }
  }
}
