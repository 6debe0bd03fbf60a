package dev.warmpath.router.dispatch;

import dev.warmpath.router.fleet.EngineState;
import dev.warmpath.router.fleet.LoadedTokens;
import dev.warmpath.router.fleet.Reservation;
import dev.warmpath.router.routing.Candidates;
import dev.warmpath.router.routing.Policy;
import dev.warmpath.router.routing.RoutingRequest;
import dev.warmpath.router.routing.Score;
import dev.warmpath.router.routing.SplitRule;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Which engine serves a request, or which two: valid as long as its selection is.
 *
 * @param prefill the engine that only computes the prompt; null if the last one does
 * @param last the engine that answers
 */
record Plan(@Nullable Leg prefill, Leg last) {

  /* Three choices of the policy, each among other engines, and one comparison:
   *
   *   alone     among those that serve whole requests              A
   *   prefill   among those that compute for others                P
   *   decode    among those that P reaches; what one of them       D
   *             lacks costs its transfer, not its computation
   *
   * The split rule is told what both ways cost, in milliseconds:
   *   alone  backlog(A) + (1 + others(A))·T(A) + w·answer(A)
   *   apart  backlog(P) + (1 + others(P))·T(P) + transfer(P, D) + backlog(D) + w·answer(D)
   * T is the prefill of what is not cached there. It holds up each of the streams that run at the
   * same engine, and about as many prompts come behind it as wait there now:
   *   others = w·running + waiting
   * answer is how long the answer takes there, see AnswerModel, and w is ANSWER_WEIGHT. The legs
   * are chosen by the same prices: docs/decisions/engines-share-the-work-by-its-price.md.
   *
   * P is chosen before D, and the network between them last, for measured fleets showed it to
   * matter least.
   */

  /** Of so many engines the scores of a choice are kept. */
  static final int MOST_SCORED = 8;

  /** What a millisecond of an answer is worth beside one until its first token. */
  static final double ANSWER_WEIGHT = 0.5;

  /**
   * The plan for a request; null if no engine may have it.
   *
   * @param selection the engines as they stand at the moment
   */
  static @Nullable Plan of(
      Policy policy, SplitRule rule, RoutingRequest request, Selection selection) {
    Leg alone = leg(policy, request, selection.alone());
    Plan apart = apart(policy, request, selection);
    if (apart == null) {
      return alone == null ? null : new Plan(null, alone);
    }
    return alone == null || apart.isPreferred(rule, alone) ? apart : new Plan(null, alone);
  }

  /** An engine chosen among these; null if there are none. */
  static @Nullable Leg leg(Policy policy, RoutingRequest request, Selection.Options options) {
    return options.isEmpty()
        ? null
        : new Leg(policy, request, options, policy.choose(request, options.candidates()));
  }

  /** The two engines that would serve a request if it was split; null if none can. */
  static @Nullable Plan apart(Policy policy, RoutingRequest request, Selection selection) {
    if (!selection.isSplittable()) {
      return null;
    }
    Leg prefill = leg(policy, request, selection.prefills());
    if (prefill == null) {
      return null;
    }
    Leg last = leg(policy, request, selection.reachedFrom(prefill.contender()));
    return last == null ? null : new Plan(prefill, last);
  }

  /**
   * Whether the request should wait, although there is room.
   *
   * @param heldTokens prompt tokens of others that do
   */
  boolean isHeld(long heldTokens) {
    Leg computing = prefill == null ? last : prefill;
    return computing.policy.holds(
        computing.request, computing.candidates(), computing.row, heldTokens);
  }

  private SplitRule.Ways ways(Leg alone) {
    RoutingRequest request = alone.request;
    return new SplitRule.Ways(
        request.knownTokens(),
        alone.candidates().uncachedTokens(request, alone.row),
        lackedTokens(),
        alone.wholeMillis(),
        apartMillis());
  }

  /** Whether a rule prefers this one of two engines to one engine. */
  boolean isPreferred(SplitRule rule, Leg alone) {
    return rule.splits(ways(alone));
  }

  /** Tokens that the decode does not have. */
  private int lackedTokens() {
    return last.candidates().uncachedTokens(last.request, last.row);
  }

  /** What two engines cost. */
  double apartMillis() {
    Leg from = Objects.requireNonNull(prefill);
    return from.backlogMillis()
        + from.prefillMillis()
        + last.engine().transferCost(from.engine()).millis(lackedTokens())
        + last.backlogMillis()
        + last.answerMillis();
  }

  /** One engine of a plan: a row among those that could do the same. */
  record Leg(Policy policy, RoutingRequest request, Selection.Options options, int row) {

    Contender contender() {
      return options.row(row);
    }

    EngineState engine() {
      return contender().engine();
    }

    Candidates candidates() {
      return options.candidates();
    }

    /** What it costs to serve the request alone. */
    double wholeMillis() {
      return backlogMillis() + prefillMillis() + answerMillis();
    }

    private double backlogMillis() {
      return candidates().prefillBacklogMillis(row) + candidates().loadMillis(row);
    }

    private double prefillMillis() {
      return (1 + candidates().prefillsOfOthers(row)) * candidates().prefillMillis(request, row);
    }

    private double answerMillis() {
      return candidates().answerMillis(row);
    }

    Contender.@Nullable Pull pull() {
      return options.pull(row);
    }

    /** What the request needs of the engine. */
    EngineState.Demand demand(PreparedRequest prepared) {
      EngineState.Part part = options.part();
      boolean isComputed = part != EngineState.Part.ANSWER;
      return new EngineState.Demand(
          prepared.promptTokens(),
          isComputed ? candidates().creditTokens(row) : prepared.promptTokens(),
          contender().chain(),
          contender().matchedBlocks(),
          isComputed ? contender().loaded(pull()) : LoadedTokens.NOTHING,
          prepared.streamed() || part == EngineState.Part.PROMPT, // whose end is seen
          part);
    }

    @Nullable Reservation reserve(
        BooleanSupplier stillValid, EngineState.Demand demand, long turn, long nowNanos) {
      return engine().reserve(stillValid, demand, turn, nowNanos);
    }

    /**
     * How it was chosen.
     *
     * @param prefill the engine that computes the prompt for this one, or null
     * @param uncached why tokens would not be cached; null if nothing is predicted
     */
    Choice choice(
        Prompt prompt,
        boolean keepsScores,
        @Nullable Choice prefill,
        @Nullable UncachedCauses uncached) {
      Candidates rows = candidates();
      return new Choice(
          rows.name(row),
          policy.name(),
          policy.reason(request, rows, row),
          prefill == null ? prediction(prompt) : prefill.prediction(),
          prefill == null ? uncached : prefill.uncached(),
          contender().chain(),
          prefill == null ? slowTier() : Contender.SlowTier.NOTHING,
          pulled(),
          prefill == null && pull() == null ? contender().stored() : null,
          rows.requests(row),
          rows.waiting(row),
          rows.prefillBacklogMillis(row),
          rows.prefillMillis(request, row),
          keepsScores ? scored(prompt) : List.of(),
          prefill);
    }

    Prediction prediction(Prompt prompt) {
      return contender().prediction(prompt, pull());
    }

    private Contender.SlowTier slowTier() {
      return pull() == null ? contender().slowTier() : Contender.SlowTier.PULLED;
    }

    private Choice.@Nullable Pulled pulled() {
      Contender.Pull pull = pull();
      return pull == null
          ? null
          : new Choice.Pulled(pull.from().name(), contender().loaded(pull).pulled());
    }

    /** Lets the policy remember the choice; returns what those of other routers must remember. */
    long[] commit() {
      return policy.committed(request, candidates(), row);
    }

    private List<Explanation.Row> scored(Prompt prompt) {
      List<Explanation.Row> scored = new ArrayList<>();
      for (int each : notable()) {
        Score score = policy.score(request, candidates(), each);
        scored.add(Explanation.Builder.row(options, each, score, prompt));
      }
      return List.copyOf(scored);
    }

    /** The winner, then those with most of the prompt, then the least loaded. */
    private List<Integer> notable() {
      Candidates rows = candidates();
      List<Integer> found = new ArrayList<>(List.of(row));
      while (found.size() < Math.min(MOST_SCORED, rows.count())) {
        boolean byCache = found.size() <= MOST_SCORED / 2;
        int best = -1;
        for (int each = 0; each < rows.count(); each++) {
          if (!found.contains(each) && (best < 0 || isBefore(rows, each, best, byCache))) {
            best = each;
          }
        }
        found.add(best);
      }
      return found;
    }

    private static boolean isBefore(Candidates rows, int row, int other, boolean byCache) {
      return byCache
          ? rows.creditTokens(row) > rows.creditTokens(other)
          : rows.requests(row) < rows.requests(other);
    }
  }
}
