package dev.warmpath.router.fleet.dispatch;

import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.router.fleet.engine.EngineLoad;
import dev.warmpath.router.fleet.engine.EngineState;
import dev.warmpath.router.fleet.engine.ExpectedBlocks;
import dev.warmpath.router.fleet.match.Prompt;
import dev.warmpath.router.fleet.match.Sighting;
import dev.warmpath.router.routing.Candidate;
import dev.warmpath.router.routing.RoutingRequest;
import dev.warmpath.router.routing.Score;
import org.jspecify.annotations.Nullable;

/**
 * One engine that may get a request: what the index shows, and what the router remembers.
 *
 * <p>Confined to the dispatcher's lock.
 *
 * @param expectedTokens leading tokens that the index shows or that are on their way; at least what
 *     the index shows
 * @param candidate how the policy sees it
 */
record Prospect(EngineState engine, Sighting sighting, int expectedTokens, Candidate candidate) {

  static Prospect of(EngineState engine, Sighting sighting, Prompt prompt, long nowNanos) {
    int expected = expectedTokens(engine, sighting, nowNanos);
    Candidate candidate =
        new Candidate(
            engine.name(),
            prompt.readsCache() ? creditTokens(sighting, expected) : 0,
            engine.load().snapshot(nowNanos),
            engine.prefill().cost(),
            engine.lastTurn());
    return new Prospect(engine, sighting, expected, candidate);
  }

  private static int expectedTokens(EngineState engine, Sighting sighting, long nowNanos) {
    BlockChain chain = sighting.chain();
    if (chain == null) {
      return 0;
    }
    int depth = engine.expected().depth(chain, sighting.matchedBlocks(), nowNanos);
    return Math.max(sighting.matchedTokens(), depth * chain.space().blockSizeTokens());
  }

  /**
   * The tokens to count on when choosing. What the index shows counts by how far it can be
   * believed; what the router itself has sent there counts in full.
   */
  private static int creditTokens(Sighting sighting, int expectedTokens) {
    double weight =
        switch (sighting.view().trust()) {
          case EXACT -> 1;
          case SUSPECT -> 0.75;
          case CATCHING_UP -> 0.5;
          case NONE -> 0;
        };
    int matched = sighting.matchedTokens();
    return (int) (weight * matched) + expectedTokens - matched;
  }

  /** Whether the index does not show all whole blocks of the prompt. */
  boolean isPartlyKnown() {
    BlockChain chain = sighting.chain();
    return chain != null && sighting.matchedBlocks() < chain.blocks();
  }

  /** The prompt's blocks in the engine's space, null if its tokens are not known. */
  @Nullable BlockChain chain() {
    return sighting.chain();
  }

  /** What the engine will report for {@code prompt} if it gets it. */
  Prediction prediction(Prompt prompt) {
    if (sighting.chain() == null) {
      return Prediction.none(Prediction.Basis.PROMPT_UNKNOWN);
    }
    if (!prompt.comparable()) {
      return Prediction.none(Prediction.Basis.NOT_COMPARABLE);
    }
    if (!prompt.readsCache()) {
      return new Prediction(0, Prediction.Basis.READS_NO_CACHE);
    }
    return switch (sighting.view().trust()) {
      case EXACT -> new Prediction(sighting.matchedTokens(), Prediction.Basis.INDEX);
      case SUSPECT, CATCHING_UP -> Prediction.none(Prediction.Basis.NOT_TRUSTED);
      case NONE -> Prediction.none(Prediction.Basis.NO_EVENTS);
    };
  }

  /** Takes the engine's load and expected blocks for the request. */
  Assignment.Reservation reserve(DispatchRequest request, RoutingRequest routed, long nowNanos) {
    boolean alone = engine.load().isIdle(nowNanos);
    EngineLoad.Share share = share(request, routed);
    engine.load().add(share, nowNanos);
    return new Assignment.Reservation(
        share, claim(nowNanos), alone, engine.suspension().chosen(), nowNanos, sighting.chain());
  }

  private EngineLoad.Share share(DispatchRequest request, RoutingRequest routed) {
    int length = routed.promptKnown() ? routed.promptTokens() : request.estimatedTokens();
    int uncached = Math.max(0, length - candidate.creditTokens());
    long micros = Math.round(1000 * candidate.prefillCost().millis(uncached, length));
    return new EngineLoad.Share(uncached, micros, length, request.streamed());
  }

  private ExpectedBlocks.@Nullable Claim claim(long nowNanos) {
    BlockChain chain = sighting.chain();
    return chain == null
        ? null
        : engine.expected().claim(chain, sighting.matchedBlocks(), nowNanos);
  }

  Explanation.Candidature candidature(Prompt prompt, Score score) {
    return new Explanation.Candidature(
        engine.name(),
        sighting.view(),
        sighting.matchedBlocks(),
        sighting.matchedTokens(),
        expectedTokens,
        candidate.creditTokens(),
        prediction(prompt),
        candidate.load(),
        score);
  }
}
