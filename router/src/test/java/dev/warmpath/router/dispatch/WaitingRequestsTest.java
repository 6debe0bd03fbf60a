package dev.warmpath.router.dispatch;

import static dev.warmpath.router.dispatch.World.prompt;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.dispatch.DispatchResult.Cause;
import dev.warmpath.router.dispatch.DispatchResult.NoCandidate;
import dev.warmpath.router.dispatch.DispatchResult.Queued;
import dev.warmpath.router.fleet.Outcome;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.metrics.Metric;
import dev.warmpath.router.routing.Candidates;
import dev.warmpath.router.routing.Policies;
import dev.warmpath.router.routing.Policy;
import dev.warmpath.router.routing.RoutingRequest;
import dev.warmpath.router.routing.Score;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/**
 * Requests that wait while all replicas are full. A fleet of one with room for one, unless said.
 */
class WaitingRequestsTest {

  private final World world = new World("least-requests", 1).with(1);
  private final List<String> served = new ArrayList<>();

  @Test
  void theFirstThatCameIsTheFirstToGo() {
    Assignment running = running();
    admit("a", 0, "x");
    admit("b", 0, "x");
    assertThat(world.dispatcher.queued()).isEqualTo(2);
    running.finished(Outcome.COMPLETED);
    assertThat(served).containsExactly("a");
    assertThat(world.report("r0").state().load().requestsInFlight()).isEqualTo(1);
    assertThat(world.dispatcher.queued()).isEqualTo(1);
  }

  @Test
  void theLowestPriorityNumberGoesFirst() {
    Assignment running = running();
    admit("late", 5, "x");
    admit("usual", 0, "x");
    admit("early", -5, "x");
    serveAll(running);
    assertThat(served).containsExactly("early", "usual", "late");
  }

  @Test
  void clientsTakeTurns() {
    Assignment running = running();
    admit("x1", 0, "x");
    admit("x2", 0, "x");
    admit("x3", 0, "x");
    admit("y1", 0, "y");
    serveAll(running);
    assertThat(served).containsExactly("x1", "y1", "x2", "x3");
  }

  @Test
  void noneOvertakesAnEqualOneThatWaits() {
    Assignment running = running();
    admit("first", 0, "x");
    world.add("r1").models(Set.of("m"));
    // There is room now, and nothing has been given back: who comes next may not take it alone.
    admit("second", 0, "y");
    assertThat(served).containsExactly("first");
    assertThat(world.dispatcher.queued()).isEqualTo(1);
    running.finished(Outcome.COMPLETED);
    assertThat(served).containsExactly("first", "second");
  }

  @Test
  void aMoreUrgentOneGoesAtOnceWhenThereIsRoom() {
    running();
    admit("patient", 5, "x");
    world.add("r1");
    assertThat(world.dispatcher.admit(request("urgent", 0, "y"), r -> {}))
        .isInstanceOf(Assignment.class);
  }

  @Test
  void aModelWhoseReplicasAreFullHoldsNoOtherBack() {
    Replica other = world.add("r1");
    other.models(Set.of("n"));
    Assignment m = running();
    Assignment n = world.assign(World.request("n", prompt(10)));
    admit("m1", 0, "x");
    world.dispatcher.admit(
        request("n", "n1", 0, "x"), result -> served.add(((Assignment) result).engine()));
    n.finished(Outcome.COMPLETED);
    assertThat(served).containsExactly("r1");
    m.finished(Outcome.COMPLETED);
    assertThat(served).containsExactly("r1", "m1");
  }

  @Test
  void oneThatWaitsForOneReplicaHoldsNoOtherBack() {
    Replica other = world.add("r1");
    other.models(Set.of("m"));
    Assignment first = running();
    Assignment second = running();
    Assignment there = first.replica() == other ? second : first;
    Assignment elsewhere = first.replica() == other ? first : second;
    world.dispatcher.admit(
        request("m", "only there", 0, "x").only(Set.of(there.replica().name())),
        result -> served.add("only " + ((Assignment) result).engine()));
    world.dispatcher.admit(
        request("m", "anywhere", 0, "x"),
        result -> served.add("any " + ((Assignment) result).engine()));
    elsewhere.finished(Outcome.COMPLETED);
    assertThat(served).containsExactly("any r1");
    there.finished(Outcome.COMPLETED);
    assertThat(served).containsExactly("any r1", "only r0");
  }

  @Test
  void soManyMayWaitAsIsConfigured() {
    running();
    for (int i = 0; i < 4; i++) {
      assertThat(admit("w" + i, 0, "x")).isInstanceOf(Queued.class);
    }
    assertThat(admit("one too many", 0, "y")).isEqualTo(new NoCandidate(Cause.QUEUE_FULL));
    assertThat(world.counted(Metric.UNASSIGNED_TOTAL, "queue_full")).isEqualTo(1);
  }

  @Test
  void whoWithdrawsGetsNothing() {
    Assignment running = running();
    Queued gone = (Queued) admit("gone", 0, "x");
    admit("stays", 0, "x");
    assertThat(gone.withdraw()).isTrue();
    assertThat(gone.withdraw()).isFalse();
    running.finished(Outcome.COMPLETED);
    assertThat(served).containsExactly("stays");
  }

  @Test
  void whenNoReplicaIsLeftTheyHearWhy() {
    running();
    List<DispatchResult> results = new ArrayList<>();
    world.dispatcher.admit(request("waits", 0, "x"), results::add);
    world.replica("r0").draining(true);
    world.dispatcher.freed();
    assertThat(results).containsExactly(new NoCandidate(Cause.DRAINING));
    assertThat(world.dispatcher.queued()).isZero();
  }

  @Test
  void onesThatOurOwnBugHitsHearOfItAndTheOthersGoOn() {
    Assignment running = running();
    List<DispatchResult> results = new ArrayList<>();
    world.dispatcher.admit(request("hit", 0, "x"), results::add);
    world.dispatcher.admit(request("too", 0, "x"), results::add);
    world.broken = true;
    running.finished(Outcome.COMPLETED);
    assertThat(results)
        .containsExactly(new NoCandidate(Cause.FAILURE), new NoCandidate(Cause.FAILURE));
    assertThat(world.dispatcher.queued()).isZero();
    assertThat(world.report("r0").state().load().requestsInFlight()).isZero();

    world.broken = false;
    Assignment next = running();
    admit("b", 0, "x");
    next.finished(Outcome.COMPLETED);
    assertThat(served).containsExactly("b");
  }

  @Test
  void underManyThreadsEachIsServedOnceAndNoneIsForgotten() throws Exception {
    World tight = new World("least-requests", 2, 100_000).with(3);
    ConcurrentLinkedQueue<Assignment> ready = new ConcurrentLinkedQueue<>();
    AtomicInteger most = new AtomicInteger();
    int requests = 4_000;
    CountDownLatch done = new CountDownLatch(requests);
    ExecutorService threads = Executors.newFixedThreadPool(4);
    for (int i = 0; i < requests; i++) {
      PreparedRequest request = request("q" + i, i % 3, "c" + i % 5);
      threads.execute(() -> {
        DispatchResult result =
            tight.dispatcher.admit(request, later -> ready.add((Assignment) later));
        if (result instanceof Assignment assignment) {
          ready.add(assignment);
        }
        Assignment next = ready.poll();
        if (next != null) {
          most.accumulateAndGet(next.replica().requests(), Math::max);
          next.finished(Outcome.COMPLETED);
          done.countDown();
        }
      });
    }
    while (!done.await(1, TimeUnit.MILLISECONDS)) {
      Assignment next = ready.poll();
      if (next != null) {
        next.finished(Outcome.COMPLETED);
        done.countDown();
      }
    }
    threads.shutdownNow();
    assertThat(most.get()).isLessThanOrEqualTo(2);
    assertThat(tight.dispatcher.queued()).isZero();
    assertThat(tight.dispatcher.report()).allMatch(r -> r.state().load().requestsInFlight() == 0);
  }

  /** A policy under which requests of a session called "held" wait while something is in flight. */
  private static final class Holding implements Policy {
    private final Policy usual = Policies.named("least-requests", Map.of());
    private volatile boolean holds = true;
    private volatile String onlyHolds = "held";
    private final Queue<Long> asked = new ConcurrentLinkedQueue<>();

    @Override
    public String name() {
      return usual.name();
    }

    @Override
    public int choose(RoutingRequest request, Candidates candidates) {
      return usual.choose(request, candidates);
    }

    @Override
    public String reason(RoutingRequest request, Candidates candidates, int winner) {
      return usual.reason(request, candidates, winner);
    }

    @Override
    public Score score(RoutingRequest request, Candidates candidates, int row) {
      return usual.score(request, candidates, row);
    }

    @Override
    public boolean holds(
        RoutingRequest request, Candidates candidates, int winner, long heldTokens) {
      asked.add(heldTokens);
      String session = request.sessionKey();
      return holds && session != null && session.startsWith(onlyHolds);
    }
  }

  private final Holding holding = new Holding();
  private final World roomy = new World("least-requests", 8).with(1);

  private DispatchResult admitToRoomy(String name, String client) {
    return roomy.dispatcher.admit(request(name, 0, client), result -> served.add(name));
  }

  @Test
  void othersOvertakeWhatIsHeld() {
    roomy.dispatcher.policy(holding);
    assertThat(admitToRoomy("held 1", "x")).isInstanceOf(Queued.class);
    assertThat(admitToRoomy("held 2", "x")).isInstanceOf(Queued.class);
    assertThat(admitToRoomy("usual", "x")).isInstanceOf(Assignment.class);
    assertThat(roomy.dispatcher.queued()).isEqualTo(2);
    assertThat(roomy.dispatcher.held()).isEqualTo(2);
    assertThat(roomy.dispatcher.longestWaitMillis()).isZero(); // others' requests wait for room
  }

  @Test
  void whatIsHeldIsAskedAgainWhenAPromptIsComputedAndWhenARequestIsOver() {
    roomy.dispatcher.policy(holding);
    Assignment first = (Assignment) admitToRoomy("usual 1", "x");
    admitToRoomy("held 1", "x");
    admitToRoomy("held 2", "x");
    holding.asked.clear();
    roomy.pass(20);
    first.firstToken();
    assertThat(holding.asked).hasSize(2);
    holding.holds = false;
    first.finished(Outcome.COMPLETED);
    assertThat(served).containsExactly("held 1", "held 2");
    assertThat(roomy.dispatcher.queued()).isZero();
    assertThat(roomy.dispatcher.held()).isZero();
  }

  @Test
  void heldRequestsOfClientsTakeTurns() {
    roomy.dispatcher.policy(holding);
    Assignment first = (Assignment) admitToRoomy("usual", "x");
    for (String name : List.of("held x1", "held x2", "held y1")) {
      admitToRoomy(name, name.substring(5, 6));
    }
    holding.holds = false;
    first.finished(Outcome.COMPLETED);
    assertThat(served).containsExactly("held x1", "held y1", "held x2");
  }

  @Test
  void aRequestThatWaitedForRoomCanBeHeldThen() {
    world.dispatcher.policy(holding);
    holding.holds = false;
    Assignment running = running();
    admit("held", 0, "x");
    admit("usual", 0, "x");
    holding.holds = true;
    running.finished(Outcome.COMPLETED);
    assertThat(served).containsExactly("usual");
    assertThat(world.dispatcher.held()).isEqualTo(1);
  }

  @Test
  void heldOnesCanBeWithdrawnAndAreBoundedLikeAll() {
    roomy.dispatcher.policy(holding);
    List<DispatchResult> results = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      results.add(admitToRoomy("held " + i, "x"));
    }
    assertThat(results.get(4)).isEqualTo(new NoCandidate(Cause.QUEUE_FULL));
    assertThat(((Queued) results.get(0)).withdraw()).isTrue();
    assertThat(roomy.dispatcher.held()).isEqualTo(3);
    assertThat(admitToRoomy("held 5", "x")).isInstanceOf(Queued.class);
  }

  @Test
  void theYoungerOneGoesIfItCan() {
    roomy.dispatcher.policy(holding);
    admitToRoomy("held 1", "x");
    admitToRoomy("held 2", "x");
    holding.onlyHolds = "held 1";
    roomy.dispatcher.freed();
    assertThat(served).containsExactly("held 2");
  }

  @Test
  void timeLetsGoWhatIsHeld() {
    roomy.dispatcher.policy(holding);
    admitToRoomy("held 1", "x");
    holding.holds = false;
    roomy.pass(20);
    roomy.dispatcher.tick();
    assertThat(served).containsExactly("held 1");
  }

  @Test
  void whereNothingMayWaitNothingIsHeld() {
    World impatient = new World("least-requests", 8, 0).with(1);
    impatient.dispatcher.policy(holding);
    assertThat(impatient.dispatcher.admit(request("held", 0, "x"), result -> {}))
        .isInstanceOf(Assignment.class);
  }

  @Test
  void retriesAreNotHeld() {
    roomy.dispatcher.policy(holding);
    assertThat(roomy.dispatcher.assign(request("held", 0, "x"), Set.of()))
        .isInstanceOf(Assignment.class);
  }

  private Assignment running() {
    return world.assign(prompt(10));
  }

  /** Ends what runs until all that waited were served. */
  private void serveAll(Assignment first) {
    Assignment running = first;
    while (running != null) {
      int before = served.size();
      current = null;
      running.finished(Outcome.COMPLETED);
      running = served.size() > before ? current : null;
    }
  }

  private Assignment current;

  private DispatchResult admit(String name, int priority, String client) {
    return world.dispatcher.admit(
        request(name, priority, client),
        result -> {
          served.add(name);
          current = (Assignment) result;
        });
  }

  private static PreparedRequest request(String name, int priority, String client) {
    return request("m", name, priority, client);
  }

  private static PreparedRequest request(
      String model, String session, int priority, String client) {
    return new PreparedRequest(model, Prompt.of(null), session, true, 0, priority, client);
  }
}
