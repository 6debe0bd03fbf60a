package dev.warmpath.router.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warmpath.eventingest.EngineView;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.kvindex.runs.RunKvIndex;
import dev.warmpath.router.dispatch.Assignment;
import dev.warmpath.router.dispatch.DispatchResult;
import dev.warmpath.router.dispatch.Dispatcher;
import dev.warmpath.router.dispatch.PreparedRequest;
import dev.warmpath.router.dispatch.Prompt;
import dev.warmpath.router.fleet.EngineEvents;
import dev.warmpath.router.fleet.EngineReport;
import dev.warmpath.router.fleet.ExpectedBlocks;
import dev.warmpath.router.fleet.Fleet;
import dev.warmpath.router.fleet.Outcome;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.metrics.Metrics;
import dev.warmpath.router.routing.Policies;
import dev.warmpath.tokenizer.PromptResult;
import java.net.URI;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ClusterTest {

  private static final ChainSpace SPACE = new ChainSpace("m", 16, 0);
  private static final long EXPIRE_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final AtomicLong nanos = new AtomicLong();
  private final Map<RouterId, Router> routers = new LinkedHashMap<>();
  private final Set<RouterId> cutOff = new HashSet<>();
  private long lostMessages;
  private boolean losing;

  /** A router without sockets; all have the same replicas. */
  private final class Router implements ClusterLink, Cluster.Host {
    final RouterId id;
    final Fleet fleet = new Fleet();
    final Cluster cluster;
    final Dispatcher dispatcher;
    final Map<String, String> settings = new HashMap<>();
    final List<String> responses = new ArrayList<>();
    final Deque<Runnable> inbox = new ArrayDeque<>();

    Router(String name, long start, int replicas, int replicaRequests) {
      id = new RouterId(name, start);
      cluster = new Cluster(id, this, EXPIRE_NANOS, nanos::get, nanos::get, this);
      RunKvIndex index = new RunKvIndex(IndexLimits.unbounded(1000));
      Map<Replica, EngineView> views = new HashMap<>();
      dispatcher =
          new Dispatcher(
              fleet,
              index,
              new EngineEvents() {
                @Override
                public EngineView view(Replica replica, int rank) {
                  return views.getOrDefault(replica, EngineView.UNSEEN);
                }
              },
              Policies.named("warm", Map.of()),
              new Dispatcher.Limits(ExpectedBlocks.Limits.DEFAULT, replicaRequests, 3),
              new Dispatcher.Environment(
                  nanos::get, new Random(start), new Metrics(), List.of(cluster)));
      for (int i = 0; i < replicas; i++) {
        Replica replica = new Replica("r" + i, URI.create("http://r" + i), Set.of("m"), 1);
        replica.health(Replica.Health.UP);
        views.put(
            replica, new EngineView(index.addEngine(CopyCounting.PER_COPY), SPACE, Trust.EXACT));
        fleet.add(replica);
      }
      routers.put(id, this);
      cluster.begin(dispatcher);
    }

    Assignment send(PromptResult prompt) {
      return assertInstanceOf(Assignment.class, dispatcher.assign(request(prompt), Set.of()));
    }

    EngineReport report(String engine) {
      return dispatcher.report().stream()
          .filter(report -> report.engine().equals(engine))
          .findFirst()
          .orElseThrow();
    }

    int inFlight(String engine) {
      return report(engine).state().load().requestsInFlight();
    }

    int requests(String replica) {
      return fleet.find(replica).orElseThrow().requests();
    }

    @Override
    public void begin(Listener listener) {}

    @Override
    public void broadcast(byte[] message) {
      routers.keySet().forEach(other -> send(other, message));
    }

    @Override
    public void send(RouterId to, byte[] message) {
      Router there = routers.get(to);
      if (there == null || there == this || cutOff.contains(id) || cutOff.contains(to)) {
        return;
      }
      if (losing) {
        lostMessages++;
        return;
      }
      there.inbox.add(() -> there.cluster.received(id, message));
    }

    @Override
    public Status status() {
      return new Status(0, 0, 0, 0, 0, "");
    }

    @Override
    public void close() {}

    @Override
    public void response(String response, String replica, String client) {
      responses.add(response + " " + replica + " " + client);
    }

    @Override
    public void setting(String name) {
      settings.put(name, cluster.setting(name));
    }
  }

  private static PreparedRequest request(PromptResult prompt) {
    return new PreparedRequest("m", Prompt.of(prompt), null, true, 0, 0, null);
  }

  private static PromptResult.Tokens prompt(int tokens, int family) {
    int[] ids = IntStream.range(0, tokens).map(i -> family * 100_000 + i).toArray();
    return new PromptResult.Tokens(List.of(ids), PromptKeys.NONE, true, true, null);
  }

  /** So much time passes, and what is sent comes at once. */
  private void pass(long millis) {
    for (long i = 0; i < millis; i += 5) {
      nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(5));
      routers.values().forEach(router -> router.cluster.tick());
      deliver();
    }
  }

  private void deliver() {
    boolean any = true;
    while (any) {
      any = false;
      for (Router router : List.copyOf(routers.values())) {
        Runnable next = router.inbox.poll();
        if (next != null) {
          next.run();
          any = true;
        }
      }
    }
  }

  private Router router(String name) {
    return new Router(name, routers.size() + 1, 3, 100);
  }

  @Test
  void requestOfOneRouterCountsAtAllUntilItIsOver() {
    Router a = router("a");
    Router b = router("b");
    Assignment sent = a.send(prompt(160, 1));
    pass(5);
    String engine = sent.engine();
    assertEquals(1, b.inFlight(engine));
    assertEquals(1, b.requests(engine), "limits of replicas count it");
    assertEquals(160, b.report(engine).state().load().queuedPrefillTokens());
    assertEquals(10, b.report(engine).state().expectedBlocks().expected());
    sent.firstToken();
    pass(30);
    assertEquals(0, b.report(engine).state().load().queuedPrefillTokens());
    assertEquals(1, b.inFlight(engine));
    sent.finished(Outcome.COMPLETED);
    pass(30);
    assertEquals(0, b.inFlight(engine));
    assertEquals(0, b.requests(engine));
  }

  @Test
  void requestThatIsSentWhileATickRunsIsTold() {
    Router a = router("a");
    Router b = router("b");
    nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(10));
    Assignment sent = a.send(prompt(160, 1));
    nanos.addAndGet(-TimeUnit.MICROSECONDS.toNanos(300)); // as the tick had read the clock before
    a.cluster.tick();
    deliver();
    assertEquals(0, b.cluster.status().malformed());
    assertEquals(1, b.inFlight(sent.engine()));
  }

  @Test
  void whoIsReachableAgainIsInStepAtOnce() {
    Router a = router("a");
    Router b = router("b");
    a.send(prompt(160, 1));
    b.send(prompt(160, 2));
    pass(5);
    cutOff.add(a.id);
    a.send(prompt(160, 3));
    pass(TimeUnit.NANOSECONDS.toMillis(2 * EXPIRE_NANOS));
    assertEquals(List.of(), b.cluster.status().peers());
    cutOff.clear();
    a.cluster.reachable(Set.of(b.id));
    b.cluster.reachable(Set.of(a.id));
    deliver();
    assertTrue(a.cluster.status().peers().get(0).inStep());
    assertTrue(b.cluster.status().peers().get(0).inStep());
    assertEquals(2, b.cluster.status().peers().get(0).bookings());
  }

  @Test
  void nextRouterSendsTheSamePromptWhereTheFirstDid() {
    Router a = router("a");
    Router b = router("b");
    for (int family = 1; family <= 12; family++) {
      Assignment first = a.send(prompt(3_200, family));
      first.firstToken();
      pass(5);
      Assignment second = b.send(prompt(3_200, family));
      assertEquals(first.engine(), second.engine(), "family " + family);
      first.finished(Outcome.COMPLETED);
      second.finished(Outcome.COMPLETED);
      pass(30);
    }
  }

  @Test
  void lookAlikeFollowsAlthoughItsEndDiffers() {
    Router a = router("a");
    Router b = router("b");
    int[] ids = IntStream.range(0, 3_200).map(i -> i < 2_400 ? 7 * 100_000 + i : i).toArray();
    PromptResult.Tokens alike =
        new PromptResult.Tokens(List.of(ids), PromptKeys.NONE, true, true, null);
    Assignment first = a.send(prompt(3_200, 7));
    first.firstToken();
    pass(5);
    assertEquals(first.engine(), b.send(alike).engine());
  }

  @Test
  void requestsOfARouterThatIsSilentCountNoMore() {
    Router a = router("a");
    Router b = router("b");
    String engine = a.send(prompt(160, 1)).engine();
    pass(1_000);
    assertEquals(1, b.inFlight(engine));
    cutOff.add(a.id);
    pass(4_000);
    assertEquals(1, b.inFlight(engine), "a pause is no end");
    pass(1_300);
    assertEquals(0, b.inFlight(engine), "soon after it has expired");
    cutOff.clear();
    pass(3_500);
    assertEquals(1, b.inFlight(engine), "it was only cut off, and tells all again");
  }

  @Test
  void leastIdOfThoseThatAreHeardIsFirst() {
    Router b = router("b");
    assertTrue(b.cluster.isFirst(), "it is alone");
    Router a = router("a");
    pass(1_000);
    assertTrue(a.cluster.isFirst());
    assertFalse(b.cluster.isFirst());
    cutOff.add(a.id);
    pass(TimeUnit.NANOSECONDS.toMillis(2 * EXPIRE_NANOS));
    assertTrue(b.cluster.isFirst(), "nothing is heard of the other");
  }

  @Test
  void routerThatStartedAgainHasNoneOfItsFormerRequests() {
    Router a = router("a");
    Router b = router("b");
    String engine = a.send(prompt(160, 1)).engine();
    pass(5);
    assertEquals(1, b.inFlight(engine));
    routers.remove(a.id);
    Router again = new Router("a", 77, 3, 100);
    again.send(prompt(160, 2));
    pass(5);
    int all = b.inFlight("r0") + b.inFlight("r1") + b.inFlight("r2");
    assertEquals(1, all, "the new one's alone");
  }

  @Test
  void whatWasLostIsToldAgain() {
    Router a = router("a");
    Router b = router("b");
    pass(1_000);
    losing = true;
    Assignment first = a.send(prompt(160, 1));
    pass(5);
    Assignment second = a.send(prompt(160, 2));
    pass(5);
    first.finished(Outcome.COMPLETED);
    pass(5);
    losing = false;
    assertNotEquals(0, lostMessages);
    assertEquals(0, b.requests("r0") + b.requests("r1") + b.requests("r2"));
    pass(2_200);
    assertEquals(1, b.requests(second.engine()));
    assertEquals(1, b.requests("r0") + b.requests("r1") + b.requests("r2"));
    assertTrue(b.cluster.status().askedAgain() > 0);
    pass(1_200);
    assertTrue(b.cluster.status().peers().get(0).inStep());
  }

  @Test
  void newcomerHearsOfWhatIsUnderWay() {
    Router a = router("a");
    String engine = a.send(prompt(160, 1)).engine();
    a.cluster.set("drain/r2", "true");
    pass(100);
    Router b = router("b");
    b.cluster.reachable(Set.of(a.id));
    pass(5);
    assertEquals(1, b.inFlight(engine));
    assertEquals("true", b.settings.get("drain/r2"));
  }

  @Test
  void replicaIsFullForAllTogether() {
    Router a = new Router("a", 1, 1, 2);
    Router b = new Router("b", 2, 1, 2);
    a.send(prompt(160, 1));
    Assignment last = a.send(prompt(160, 2));
    pass(5);
    List<DispatchResult> later = new ArrayList<>();
    DispatchResult waits = b.dispatcher.admit(request(prompt(160, 3)), later::add);
    assertInstanceOf(DispatchResult.Queued.class, waits);
    last.finished(Outcome.COMPLETED);
    pass(10);
    assertInstanceOf(Assignment.class, later.get(0));
    pass(5);
    assertEquals(2, a.requests("r0"));
  }

  @Test
  void placeGoesToWhoWaitedLongestWhereverThatIs() {
    Router a = new Router("a", 1, 1, 1);
    Router b = new Router("b", 2, 1, 1);
    Assignment only = a.send(prompt(160, 1));
    pass(5);
    List<DispatchResult> atB = new ArrayList<>();
    List<DispatchResult> atA = new ArrayList<>();
    b.dispatcher.admit(request(prompt(160, 2)), atB::add);
    pass(300);
    a.dispatcher.admit(request(prompt(160, 3)), atA::add);
    pass(300);
    only.finished(Outcome.COMPLETED); // its own router would have the place at once
    pass(100);
    assertEquals(List.of(), atA);
    assertInstanceOf(Assignment.class, atB.get(0));
    ((Assignment) atB.get(0)).finished(Outcome.COMPLETED);
    pass(100);
    assertInstanceOf(Assignment.class, atA.get(0));
  }

  @Test
  void queueIsFullForAllTogether() {
    Router a = new Router("a", 1, 1, 1);
    Router b = new Router("b", 2, 1, 1);
    a.send(prompt(160, 1));
    pass(5);
    for (int i = 0; i < 3; i++) {
      assertInstanceOf(
          DispatchResult.Queued.class, a.dispatcher.admit(request(prompt(160, 5)), r -> {}));
    }
    pass(5);
    assertInstanceOf(
        DispatchResult.NoCandidate.class, b.dispatcher.admit(request(prompt(160, 6)), r -> {}));
  }

  @Test
  void engineThatFailsOneRouterGetsNothingFromTheOthers() {
    Router a = router("a");
    Router b = router("b");
    Assignment tried = a.send(prompt(160, 1));
    String engine = tried.engine();
    tried.finished(Outcome.FAILED);
    for (int i = 0; i < 40 && !a.report(engine).state().ejected(); i++) {
      Assignment next = a.send(prompt(160, 1));
      next.finished(next.engine().equals(engine) ? Outcome.FAILED : Outcome.CANCELLED);
    }
    assertTrue(a.report(engine).state().ejected());
    pass(200);
    assertTrue(b.report(engine).state().ejected());
    pass(5_000);
    assertEquals(false, b.report(engine).state().ejected());
  }

  @Test
  void newcomerIsToldWhatIsLeftOfAnEjection() {
    Router a = router("a");
    String engine = a.send(prompt(160, 1)).engine();
    for (int i = 0; i < 40 && !a.report(engine).state().ejected(); i++) {
      Assignment next = a.send(prompt(160, 1));
      next.finished(next.engine().equals(engine) ? Outcome.FAILED : Outcome.CANCELLED);
    }
    pass(600);
    Router b = router("b");
    b.cluster.reachable(Set.of(a.id));
    pass(5);
    assertTrue(b.report(engine).state().ejected());
    cutOff.add(a.id);
    long left = a.dispatcher.engine(engine).ejectedNanos(nanos.get());
    assertTrue(left > 0);
    pass(TimeUnit.NANOSECONDS.toMillis(left) + 10);
    assertEquals(false, b.report(engine).state().ejected());
  }

  @Test
  void newcomerCountsWhatIsLeftOfAPrefill() {
    Router a = router("a");
    PreparedRequest unary =
        new PreparedRequest("m", Prompt.of(prompt(3_200, 1)), null, false, 0, 0, null);
    String engine =
        assertInstanceOf(Assignment.class, a.dispatcher.assign(unary, Set.of())).engine();
    pass(20_000);
    assertEquals(0, a.report(engine).state().load().queuedPrefillTokens(), "its time is over");
    Router b = router("b");
    b.cluster.reachable(Set.of(a.id));
    deliver();
    assertEquals(1, b.inFlight(engine));
    assertEquals(0, b.report(engine).state().load().queuedPrefillTokens());
  }

  @Test
  void laterWordOfAnOperatorCounts() {
    Router a = router("a");
    Router b = router("b");
    pass(10);
    a.cluster.set("drain/r0", "true");
    pass(5);
    b.cluster.set("drain/r0", null);
    pass(5);
    assertEquals(null, a.settings.get("drain/r0"));
    assertTrue(a.settings.containsKey("drain/r0"));
  }

  @Test
  void responseCanBeContinuedThroughAnyRouter() {
    Router a = router("a");
    Router b = router("b");
    a.cluster.made("resp_1", "r1", null);
    pass(30);
    assertEquals(List.of("resp_1 r1 null"), b.responses);
  }

  @Test
  void routersTakeTheLowestWhileTheyChooseAtDifferentTimes() {
    Router a = router("a");
    Router b = router("b");
    pass(1_100); // they know of each other
    Assignment before = a.send(prompt(16, 1));
    before.firstToken();
    String busy = before.engine();
    assertTrue(isTaken(busy, a, 100), "a little more does not matter while nothing is known");
    for (int i = 0; i < 500; i++) {
      Assignment one = b.send(prompt(16, 200 + i));
      pass(20);
      one.finished(Outcome.COMPLETED);
    }
    assertFalse(isTaken(busy, a, 1000), "they do not choose at the same time");
    for (int i = 0; i < 100; i++) {
      List<Assignment> both = List.of(a.send(prompt(16, 2000 + i)), b.send(prompt(16, 3000 + i)));
      pass(20);
      both.forEach(each -> each.finished(Outcome.COMPLETED));
    }
    assertTrue(isTaken(busy, a, 5000), "they do");
  }

  /** Whether one of many requests at different times goes to this engine, although it is busy. */
  private boolean isTaken(String engine, Router router, int number) {
    boolean taken = false;
    for (int i = 0; i < 20; i++) {
      Assignment each = router.send(prompt(16, number + i));
      taken |= each.engine().equals(engine);
      each.finished(Outcome.COMPLETED);
      pass(20);
    }
    return taken;
  }

  @Test
  void choiceThatCameTooSoonIsCounted() {
    Router a = router("a");
    Router b = router("b");
    String first = a.send(prompt(3_200, 1)).engine();
    nanos.addAndGet(1_000_000);
    String second = b.send(prompt(3_200, 2)).engine();
    for (int i = 0; i < 20 && !second.equals(first); i++) {
      nanos.addAndGet(1_000_000);
      second = b.send(prompt(3_200, 3 + i)).engine();
    }
    pass(5);
    assertTrue(b.cluster.status().blindChoices() > 0);
    assertTrue(b.cluster.status().blindMillis() > 0);
  }

  @Test
  void otherVersionIsRefusedAndSaid() {
    Router a = router("a");
    a.cluster.received(new RouterId("x", 9), new byte[] {1, 99, 0});
    a.cluster.received(new RouterId("x", 9), new byte[] {1, 1, (byte) 0xc1});
    a.cluster.received(new RouterId("x", 9), new byte[0]);
    assertEquals(3, a.cluster.status().malformed());
    assertEquals(List.of(), a.cluster.status().peers());
  }

  @Test
  void whoIsReachedAndNotUnderstoodIsShown() {
    Router a = router("a");
    RouterId other = new RouterId("x", 9);
    a.cluster.reachable(Set.of(other));
    a.cluster.received(other, new byte[] {1, 99, 0});
    assertEquals(
        List.of(new Cluster.Peer(other, true, Cluster.Peer.NEVER, 0, 0, false)),
        a.cluster.status().peers());
    assertEquals(0, a.cluster.status().lost());
    a.cluster.reachable(Set.of());
    assertEquals(List.of(), a.cluster.status().peers());
    assertEquals(1, a.cluster.status().lost());
  }

  /** The whole scrape failed: a router that moves has two lives for a while. */
  @Test
  void twoOthersOfOneNameAreOneSeries() {
    Router a = router("a");
    Router b = new Router("b", 7, 3, 100);
    Router moved = new Router("b", 8, 3, 100);
    a.cluster.reachable(Set.of(b.id, moved.id));
    b.send(prompt(160, 1));
    moved.send(prompt(160, 2));
    pass(5);
    try (Metrics metrics = new Metrics()) {
      metrics.add(a.cluster::collect);
      String text = metrics.scrape();
      assertTrue(text.contains("warmpath_cluster_peer_requests{router=\"b\"} 2.0\n"), text);
    }
  }

  @Test
  void ownRequestsAreShown() {
    Router a = router("a");
    Assignment sent = a.send(prompt(160, 1));
    assertEquals(1, a.cluster.status().bookings());
    sent.finished(Outcome.COMPLETED);
    assertEquals(0, a.cluster.status().bookings());
  }
}
