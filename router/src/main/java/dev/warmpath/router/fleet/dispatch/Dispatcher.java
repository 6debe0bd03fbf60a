package dev.warmpath.router.fleet.dispatch;

import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.router.fleet.EngineFeedback;
import dev.warmpath.router.fleet.EngineView;
import dev.warmpath.router.fleet.Fleet;
import dev.warmpath.router.fleet.Knowledge;
import dev.warmpath.router.fleet.Replica;
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

  private final Object lock = new Object();
  private final Fleet fleet;
  private final Knowledge knowledge;
  private final ExpectedBlocks.Limits limits;
  private final Surroundings surroundings;
  private volatile Policy policy;

  private final Map<Replica, List<EngineState>> states = new HashMap<>();
  private List<Replica> knownReplicas = List.of();
  private long turn;
  private long nextDraw;

  public Dispatcher(
      Fleet fleet,
      Knowledge knowledge,
      Policy policy,
      ExpectedBlocks.Limits limits,
      Surroundings surroundings) {
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
      assignment = reserve(choice, prompt);
    }
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
    return assignment;
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
      Choice choice = choose(chooser, request, prompt, sightings);
      return Explanation.of(chooser.name(), prompt, eligible, choice);
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

  private Choice choose(
      Policy chooser, DispatchRequest request, Prompt prompt, List<Sighting> sightings) {
    forgetRemoved();
    long now = nanos();
    List<Prospect> prospects = new ArrayList<>(sightings.size());
    for (Sighting sighting : sightings) {
      EngineState engine = state(sighting.replica(), sighting.dpRank());
      prospects.add(Prospect.of(engine, sighting, prompt, now));
    }
    RoutingRequest routed =
        new RoutingRequest(
            prompt.lengthTokens(), request.sessionKey(), prompt.prefixHash(), nextDraw);
    return Choice.among(prospects, routed, chooser, now);
  }

  private Assignment reserve(Choice choice, Prompt prompt) {
    Prospect winner = choice.winner();
    Assignment.Reservation reservation = winner.reserve(choice.request(), nanos());
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
    return states.computeIfAbsent(replica, this::newStates).get(dpRank);
  }

  private List<EngineState> newStates(Replica replica) {
    List<EngineState> engines = new ArrayList<>(replica.ranks());
    for (int rank = 0; rank < replica.ranks(); rank++) {
      engines.add(new EngineState(replica, rank, limits));
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
