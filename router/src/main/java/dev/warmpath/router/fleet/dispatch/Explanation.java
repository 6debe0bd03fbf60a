package dev.warmpath.router.fleet.dispatch;

import dev.warmpath.router.fleet.EngineView;
import dev.warmpath.router.fleet.match.Prompt;
import dev.warmpath.router.routing.Load;
import dev.warmpath.router.routing.Score;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Who would get a request and why, if it came now.
 *
 * <p>Immutable.
 *
 * @param policy the policy's name
 * @param promptTokens the prompt's length, or −1
 * @param fallback why the prompt's tokens, or its blocks on the winner, are not known, or null
 * @param winner the engine that would win, or null
 * @param reason why it would, or why nobody would
 * @param engines the candidates
 * @param passedOver the replicas and engines that are none, by name, and why
 */
public record Explanation(
    String policy,
    int promptTokens,
    @Nullable String fallback,
    @Nullable String winner,
    String reason,
    List<Candidature> engines,
    Map<String, DispatchResult.Cause> passedOver) {

  public Explanation {
    engines = List.copyOf(engines);
    passedOver = Map.copyOf(passedOver);
  }

  static Explanation ofNobody(String policy, Prompt prompt, Eligible eligible) {
    return new Explanation(
        policy,
        prompt.lengthTokens(),
        prompt.fallback(),
        null,
        eligible.nearest().label(),
        List.of(),
        eligible.passedOver());
  }

  static Explanation of(String policy, Prompt prompt, Eligible eligible, Choice choice) {
    Map<String, DispatchResult.Cause> passedOver = new LinkedHashMap<>(eligible.passedOver());
    for (Prospect suspended : choice.suspended()) {
      passedOver.put(suspended.engine().name(), DispatchResult.Cause.SUSPENDED);
    }
    return new Explanation(
        policy,
        prompt.lengthTokens(),
        prompt.fallback(choice.winner().chain()),
        choice.winner().engine().name(),
        choice.decision().reason(),
        choice.candidatures(prompt),
        passedOver);
  }

  /**
   * One candidate.
   *
   * @param engine its name
   * @param view how it stands in the index
   * @param matchedBlocks leading blocks that the index shows
   * @param matchedTokens leading tokens that the index shows
   * @param expectedTokens leading tokens that the index shows or that are on their way
   * @param creditTokens what of these the choice counts on
   * @param prediction the cached tokens that it would be expected to report
   * @param load what it has in flight
   * @param score what choosing it would cost, lowest wins
   */
  public record Candidature(
      String engine,
      EngineView view,
      int matchedBlocks,
      int matchedTokens,
      int expectedTokens,
      int creditTokens,
      Prediction prediction,
      Load load,
      Score score) {}
}
