package dev.warmpath.router.fleet.dispatch;

import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.router.fleet.EngineFeedback;
import dev.warmpath.router.fleet.EngineView;
import dev.warmpath.router.fleet.Fleet;
import dev.warmpath.router.fleet.Knowledge;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.fleet.dispatch.DispatchResult.Cause;
import dev.warmpath.router.fleet.engine.EngineState;
import dev.warmpath.router.fleet.engine.ExpectedBlocks;
import dev.warmpath.router.fleet.match.Prompt;
import dev.warmpath.router.fleet.match.Sighting;
import dev.warmpath.router.routing.Policy;
import dev.warmpath.router.routing.RoutingRequest;
import dev.warmpath.tokenizer.PromptResult;
import dev.warmpath.tokenizer.body.ReportParameter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Gives each request to an engine: asks the index what the candidates hold of its prompt, adds what
 * is on its way to them, lets the policy choose, and reserves load and expected blocks there, so
 * that the next request sees this one.
 *
 * <p>Choosing and reserving are one atomic step. An explanation takes the same way up to the
 * reservation, with the same random draw as the next request: if nothing happens between, it comes
 * true.
 *
 * <p>Thread-safe.
 */
public final class Dispatcher {

  /*
   * Hashing the prompt and asking the index happen before the lock is taken; under it are only the
   * expected blocks, the policy and the reservation. So a request may be chosen for by an index that
   * is some microseconds old, which the index is anyway.
   */

  /**
   * What a dispatcher needs from outside.
   *
   * @param nanoClock counts nanoseconds from anywhere, as {@link System#nanoTime} does
   * @param random used under the dispatcher's lock only
   * @param listener hears what happens
   */
  public record Surroundings(
      LongSupplier nanoClock, RandomGenerator random, DispatchListener listener) {}

  /**
   * Bounds of what is given out.
   *
   * @param replicaRequests requests in flight at one replica
   */
  public record Limits(ExpectedBlocks.Limits expectedBlocks, int replicaRequests) {}

  private final Object lock = new Object();
  private final Fleet fleet;
  private final Knowledge knowledge;
  private final Limits limits;
  private final Surroundings surroundings;
  private volatile Policy policy;

  private final Map<Replica, List<EngineState>> states = new HashMap<>();
  private List<Replica> knownReplicas = List.of();
  private long turn;
  private long nextDraw;

  public Dispatcher(
      Fleet fleet, Knowledge knowledge, Policy policy, Limits limits, Surroundings surroundings) {
    this.fleet = fleet;
    this.knowledge = knowledge;
    this.policy = policy;
    this.limits = limits;
    this.surroundings = surroundings;
    this.nextDraw = surroundings.random().nextLong();
  }

  public Policy policy() {
    return policy;
  }

  /** Chooses by {@code other} from the next request on. */
  public void policy(Policy other) {
    policy = other;
  }

  /** Gives the request to an engine, if there is one for it. */
  public DispatchResult assign(DispatchRequest request) {
    Eligible eligible = Eligible.of(fleet.replicas(), request);
    if (eligible.replicas().isEmpty()) {
      listener().unassigned(eligible.nearest());
      return new DispatchResult.NoCandidate(eligible.nearest());
    }
    Prompt prompt = Prompt.of(request.prompt(), request.namespace());
    List<Sighting> sightings = Sighting.all(eligible.replicas(), prompt, knowledge);
    Policy chooser = policy;
    Choice choice;
    Assignment assignment;
    synchronized (lock) {
      choice = choose(chooser, request, prompt, sightings);
      assignment = choice == null ? null : reserve(choice, request, prompt);
    }
    if (choice == null || assignment == null) {
      listener().unassigned(Cause.FULL);
      return new DispatchResult.NoCandidate(Cause.FULL);
    }
    try {
      tell(request, prompt, chooser, choice, assignment);
    } catch (RuntimeException | Error e) {
      assignment.finished(Outcome.CANCELLED);
      throw e;
    }
    return assignment;
  }

  private void tell(
      DispatchRequest request,
      Prompt prompt,
      Policy chooser,
      Choice choice,
      Assignment assignment) {
    if (request.report() == ReportParameter.ASKED) {
      feedback().reportAsked(assignment.replica(), assignment.dpRank());
    } else if (request.report() == ReportParameter.FREE && prompt.readsCache()) {
      askReport(choice.winner(), assignment);
    }
    tellPrompt(choice.winner(), prompt, assignment);
    if (assignment.hidden()) {
      feedback().hiddenBegan(assignment.replica(), assignment.dpRank());
    }
    String fallback = prompt.fallback(choice.winner().chain());
    if (fallback != null) {
      listener().fallback(fallback);
    }
    listener().assigned(request, chooser.name(), choice.decision(), assignment);
  }

  private void tellPrompt(Prospect winner, Prompt prompt, Assignment assignment) {
    PromptResult.Tokens tokens = prompt.tokens();
    BlockChain chain = winner.isPartlyKnown() ? winner.chain() : null;
    if (chain != null && tokens != null) {
      feedback().given(assignment.replica(), assignment.dpRank(), chain, tokens);
    }
  }

  /** Lets a request whose prompt is not all known bring to light what the engine holds of it. */
  private void askReport(Prospect winner, Assignment assignment) {
    if (winner.isPartlyKnown()
        && feedback().wantsReport(assignment.replica(), assignment.dpRank())) {
      assignment.askReport();
    }
  }

  /** Says who would get the request now, and why. Reserves nothing. */
  public Explanation explain(DispatchRequest request) {
    Eligible eligible = Eligible.of(fleet.replicas(), request);
    Prompt prompt = Prompt.of(request.prompt(), request.namespace());
    Policy chooser = policy;
    if (eligible.replicas().isEmpty()) {
      return Explanation.ofNobody(chooser.name(), prompt, eligible);
    }
    List<Sighting> sightings = Sighting.all(eligible.replicas(), prompt, knowledge);
    synchronized (lock) {
      Eligible now = eligible.without(this::isFull);
      Choice choice = choose(chooser, request, prompt, sightings);
      return choice == null
          ? Explanation.ofNobody(chooser.name(), prompt, now)
          : Explanation.of(chooser.name(), prompt, now, choice);
    }
  }

  /** What the index shows of the prompt on each engine that may get the request. */
  public List<Sighting> sightings(DispatchRequest request) {
    Eligible eligible = Eligible.of(fleet.replicas(), request);
    Prompt prompt = Prompt.of(request.prompt(), request.namespace());
    return Sighting.all(eligible.replicas(), prompt, knowledge);
  }

  /** All engines of the fleet. */
  public List<EngineReport> report() {
    List<EngineReport> reports = new ArrayList<>();
    for (Replica replica : fleet.replicas()) {
      for (int rank = 0; rank < replica.ranks(); rank++) {
        EngineView view = knowledge.views().of(replica, rank);
        synchronized (lock) {
          reports.add(EngineReport.of(state(replica, rank), view, nanos()));
        }
      }
    }
    return reports;
  }

  /** Null if every candidate has as many requests as it may. */
  private @Nullable Choice choose(
      Policy chooser, DispatchRequest request, Prompt prompt, List<Sighting> sightings) {
    forgetRemoved();
    long now = nanos();
    List<Prospect> prospects = new ArrayList<>(sightings.size());
    for (Sighting sighting : sightings) {
      EngineState engine = state(sighting.replica(), sighting.dpRank());
      if (!isFull(sighting.replica())) {
        prospects.add(Prospect.of(engine, sighting, prompt, now));
      }
    }
    if (prospects.isEmpty()) {
      return null;
    }
    RoutingRequest routed =
        new RoutingRequest(
            prompt.lengthTokens(), request.sessionKey(), prompt.prefixHash(), nextDraw);
    return Choice.among(prospects, routed, chooser, now);
  }

  private Assignment reserve(Choice choice, DispatchRequest request, Prompt prompt) {
    Prospect winner = choice.winner();
    Assignment.Reservation reservation = winner.reserve(request, choice.request(), nanos());
    winner.engine().chosen(turn++);
    nextDraw = surroundings.random().nextLong();
    return new Assignment(this, winner.engine(), prompt, winner.prediction(prompt), reservation);
  }

  /** Lets go of the state of replicas that are no longer in the fleet. */
  private void forgetRemoved() {
    List<Replica> replicas = fleet.replicas();
    if (!replicas.equals(knownReplicas)) {
      states.keySet().retainAll(replicas);
      knownReplicas = replicas;
    }
  }

  private EngineState state(Replica replica, int dpRank) {
    return states(replica).get(dpRank);
  }

  private List<EngineState> states(Replica replica) {
    return states.computeIfAbsent(replica, this::newStates);
  }

  private boolean isFull(Replica replica) {
    int inFlight = 0;
    for (EngineState engine : states(replica)) {
      inFlight += engine.load().requests();
    }
    return inFlight >= limits.replicaRequests();
  }

  private List<EngineState> newStates(Replica replica) {
    List<EngineState> engines = new ArrayList<>(replica.ranks());
    for (int rank = 0; rank < replica.ranks(); rank++) {
      engines.add(new EngineState(replica, rank, limits.expectedBlocks()));
    }
    return engines;
  }

  Object lock() {
    return lock;
  }

  long nanos() {
    return surroundings.nanoClock().getAsLong();
  }

  EngineFeedback feedback() {
    return knowledge.feedback();
  }

  DispatchListener listener() {
    return surroundings.listener();
  }
}
