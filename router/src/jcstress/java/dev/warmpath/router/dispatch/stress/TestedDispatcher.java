package dev.warmpath.router.dispatch.stress;

import dev.warmpath.kvindex.runs.RunKvIndex;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.router.fleet.EngineEvents;
import dev.warmpath.router.fleet.Fleet;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.dispatch.Assignment;
import dev.warmpath.router.dispatch.DispatchResult;
import dev.warmpath.router.dispatch.Dispatcher;
import dev.warmpath.router.dispatch.PreparedRequest;
import dev.warmpath.router.fleet.ExpectedBlocks;
import dev.warmpath.router.dispatch.Prompt;
import dev.warmpath.router.metrics.Metrics;
import dev.warmpath.router.routing.Policies;
import dev.warmpath.tokenizer.PromptResult;
import java.net.URI;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * The dispatcher under test, over a fleet that is up and idle, and short ways to use it.
 *
 * <p>Its engines tell no events: all that is known of them was sent there.
 *
 * <p>Thread-safe.
 */
final class TestedDispatcher {

  /** The blocks of each prompt. */
  static final int BLOCKS = 20;

  private static final int BLOCK_TOKENS = 16;
  private static final int MAY_WAIT = 8;
  private static final KvIndex INDEX = new RunKvIndex(IndexLimits.unbounded(1));
  private static final Metrics METRICS = new Metrics();
  private static final PromptResult[] PROMPTS = {prompt(0), prompt(1)};

  private final Fleet fleet = new Fleet();
  private final Dispatcher dispatcher;
  private final AtomicInteger served = new AtomicInteger();

  /**
   * @param replicaRequests requests in flight at one replica
   * @param ranks of each replica
   */
  TestedDispatcher(String policy, int replicaRequests, int... ranks) {
    for (int i = 0; i < ranks.length; i++) {
      Replica replica = new Replica("" + i, URI.create("http://h"), Set.of(), ranks[i]);
      replica.health(Replica.Health.UP);
      fleet.add(replica);
    }
    dispatcher =
        new Dispatcher(
            fleet,
            INDEX,
            EngineEvents.NONE,
            Policies.named(policy, Map.of()),
            new Dispatcher.Limits(ExpectedBlocks.Limits.DEFAULT, replicaRequests, MAY_WAIT),
            new Dispatcher.Environment(() -> 0, new Random(3), METRICS, List.of()));
  }

  private static PromptResult prompt(int number) {
    int[] ids = new int[BLOCKS * BLOCK_TOKENS];
    Arrays.fill(ids, number);
    return new PromptResult.Tokens(List.of(ids), PromptKeys.NONE, true, true, null);
  }

  /** A stream with one of the two prompts. */
  static PreparedRequest request(int prompt) {
    return new PreparedRequest(
        null,
        Prompt.of(PROMPTS[prompt]),
        null,
        true,
        0,
        0,
        null);
  }

  /** The request's engine. */
  Assignment assign(PreparedRequest request) {
    return (Assignment) assigned(request);
  }

  /** The number of the replica that gets the request, or -1. */
  int replicaOf(PreparedRequest request) {
    return assigned(request) instanceof Assignment assignment
        ? Integer.parseInt(assignment.replica().name())
        : -1;
  }

  private DispatchResult assigned(PreparedRequest request) {
    return dispatcher.assign(request, Set.of());
  }

  /** Gives the request out or lets it wait; whenever it gets an engine, it is counted. */
  DispatchResult admit(PreparedRequest request) {
    Consumer<DispatchResult> count =
        result -> served.addAndGet(result instanceof Assignment ? 1 : 0);
    DispatchResult result = dispatcher.admit(request, count);
    count.accept(result);
    return result;
  }

  /** How often an admitted request got an engine. */
  int served() {
    return served.get();
  }

  /** Requests that wait. */
  int queued() {
    return dispatcher.queued();
  }

  /** Requests in flight on all engines. */
  int inFlight() {
    return dispatcher.report().stream().mapToInt(r -> r.state().load().requestsInFlight()).sum();
  }

  /** Blocks that are expected on all engines. */
  int expectedBlocks() {
    return dispatcher.report().stream()
        .mapToInt(r -> r.state().expectedBlocks().expected())
        .sum();
  }
}
