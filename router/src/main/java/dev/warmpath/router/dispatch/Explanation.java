package dev.warmpath.router.dispatch;

import dev.warmpath.eventingest.EngineView;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.router.dispatch.DispatchResult.Cause;
import dev.warmpath.router.routing.Candidates;
import dev.warmpath.router.routing.Policy;
import dev.warmpath.router.routing.RoutingRequest;
import dev.warmpath.router.routing.Score;
import dev.warmpath.router.routing.SplitRule;
import dev.warmpath.router.routing.SplitRules;
import dev.warmpath.tokenizer.body.FallbackCause;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * Who would get a request and why, if it came now.
 *
 * <p>Immutable.
 *
 * @param policy the policy's name
 * @param promptTokens the prompt's length, or −1
 * @param fallback why the prompt's tokens, or its blocks on the winner, are not known, or null
 * @param winner the engine that would win, or null; of a pair, where nobody serves it alone, the
 *     one that answers
 * @param reason why it would, or why nobody would
 * @param engines the candidates
 * @param passedOver the replicas and engines that are none, by name, and why
 * @param blocks the prompt's blocks on the winner, or else on the first candidate on which they are
 *     known; null if they are known on none
 * @param others what other policies would do
 * @param uncached why the winner would compute what it does not hold of the prompt, if it reused
 *     what is predicted; null if nothing is
 * @param pair the two engines that would serve it if it was split; null if none can
 */
public record Explanation(
    String policy,
    int promptTokens,
    @Nullable FallbackCause fallback,
    @Nullable String winner,
    String reason,
    List<Row> engines,
    Map<String, Cause> passedOver,
    @Nullable BlockChain blocks,
    List<Other> others,
    @Nullable UncachedTokens uncached,
    @Nullable Pair pair) {

  public Explanation {
    engines = List.copyOf(engines);
    passedOver = Map.copyOf(passedOver);
    others = List.copyOf(others);
  }

  /** The candidate with the lowest score beside the winner; null if there is none. */
  public @Nullable String runnerUp() {
    return engines.stream()
        .filter(row -> !row.engine().equals(winner))
        .min(Comparator.comparingDouble(row -> row.score().total()))
        .map(Row::engine)
        .orElse(null);
  }

  /**
   * Two engines beside one, as the split rule compares them.
   *
   * @param splits whether it is split
   * @param aloneMillis what the winner alone costs; NaN if nobody serves it alone
   * @param apartMillis what both cost
   */
  public record Pair(
      String prefill, String decode, boolean splits, double aloneMillis, double apartMillis) {}

  /**
   * What another policy would do, if it remembered nothing.
   *
   * @param remembers whether it would otherwise remember earlier choices
   */
  public record Other(String policy, String winner, String reason, boolean remembers) {}

  /**
   * One candidate.
   *
   * @param engine its name
   * @param view how it stands in the index
   * @param matchedBlocks leading blocks that the index shows
   * @param matchedTokens leading tokens that the index shows
   * @param expectedTokens leading tokens that the index shows or that are on their way
   * @param creditTokens what of these the choice counts on
   * @param pullsFrom the engine that it would get more of the prompt from; null for none
   * @param prediction the cached tokens that it would be expected to report
   * @param requestsInFlight what it has in flight
   * @param queuedTokens prompt tokens that it was given and has not computed
   * @param score what choosing it would cost, lowest wins
   */
  public record Row(
      String engine,
      EngineView view,
      int matchedBlocks,
      int matchedTokens,
      int expectedTokens,
      int creditTokens,
      @Nullable String pullsFrom,
      Prediction prediction,
      int requestsInFlight,
      long queuedTokens,
      Score score) {}

  /** Collects an explanation. */
  static final class Builder implements Selection.PassedOver {
    private final String policy;
    private final Prompt prompt;
    private final Map<String, Cause> passedOver = new LinkedHashMap<>();

    Builder(String policy, Prompt prompt) {
      this.policy = policy;
      this.prompt = prompt;
    }

    @Override
    public void because(String engine, Cause cause) {
      passedOver.put(engine, cause);
    }

    Explanation nobody(Cause nearest) {
      return new Explanation(
          policy,
          prompt.lengthTokens(),
          prompt.fallback(),
          null,
          nearest.label(),
          List.of(),
          passedOver,
          null,
          List.of(),
          null,
          null);
    }

    /** Somebody may serve it, alone or as one of two. */
    Explanation chosen(
        Policy chooser,
        SplitRule rule,
        List<Policy> others,
        RoutingRequest request,
        Selection selection,
        BiFunction<Plan.Leg, Prompt, @Nullable UncachedCauses> causes) {
      Plan.Leg alone = Plan.leg(chooser, request, selection.alone());
      boolean isNever = alone != null && rule.equals(SplitRules.NEVER); // nothing is priced then
      Plan apart = isNever ? null : Plan.apart(chooser, request, selection);
      if (alone == null && apart == null) {
        return nobody(selection.nearest());
      }
      Plan.Leg shown = alone == null ? Objects.requireNonNull(apart).last() : alone;
      Selection.Options options = shown.options();
      Candidates candidates = options.candidates();
      List<Row> rows = new ArrayList<>(candidates.count());
      for (int row = 0; row < candidates.count(); row++) {
        rows.add(row(options, row, chooser.score(request, candidates, row), prompt));
      }
      BlockChain chain = shown.contender().chain();
      return new Explanation(
          policy,
          prompt.lengthTokens(),
          prompt.fallback(chain),
          candidates.name(shown.row()),
          chooser.reason(request, candidates, shown.row()),
          rows,
          passedOver,
          chain == null ? selection.firstBlocks() : chain,
          others.stream().map(other -> other(other, request, candidates)).toList(),
          uncached(shown, causes.apply(shown, prompt)),
          apart == null ? null : pair(apart, rule, alone));
    }

    private @Nullable UncachedTokens uncached(Plan.Leg leg, @Nullable UncachedCauses causes) {
      return causes == null
          ? null
          : causes.of(prompt.lengthTokens(), leg.prediction(prompt).cachedTokens());
    }

    private static Pair pair(Plan apart, SplitRule rule, Plan.@Nullable Leg alone) {
      Plan.Leg prefill = Objects.requireNonNull(apart.prefill());
      return new Pair(
          prefill.engine().name(),
          apart.last().engine().name(),
          alone == null || apart.isPreferred(rule, alone),
          alone == null ? Double.NaN : alone.wholeMillis(),
          apart.apartMillis());
    }

    private static Other other(Policy policy, RoutingRequest request, Candidates candidates) {
      int winner = policy.choose(request, candidates);
      return new Other(
          policy.name(),
          candidates.name(winner),
          policy.reason(request, candidates, winner),
          policy.remembers());
    }

    static Row row(Selection.Options options, int row, Score score, Prompt prompt) {
      Contender contender = options.row(row);
      Candidates candidates = options.candidates();
      Contender.Pull pull = options.pull(row);
      return new Row(
          candidates.name(row),
          contender.view(),
          contender.matchedBlocks(),
          contender.matchedTokens(),
          contender.expectedTokens(),
          candidates.creditTokens(row),
          pull == null ? null : pull.from().name(),
          contender.prediction(prompt, pull),
          candidates.requests(row),
          candidates.queuedTokens(row),
          score);
    }
  }
}
