package dev.warmpath.router.routing;

/**
 * One engine that could serve the request, as it stands at this moment.
 *
 * <p>Immutable.
 *
 * @param name names the engine; unique among the candidates and stable over time
 * @param creditTokens prompt tokens that it would most likely not compute again; trust in what is
 *     known of the engine is already worked in, and what is on its way there counts
 * @param load what was sent to it and has not come back
 * @param prefillCost how long it takes for prompts
 * @param lastTurn when it was last chosen: the higher, the later; -1 if never
 */
public record Candidate(
    String name, int creditTokens, Load load, PrefillCost prefillCost, long lastTurn) {

  /** The {@link #lastTurn} of an engine that was never chosen. */
  public static final long NEVER = -1;

  public Candidate {
    if (creditTokens < 0) {
      throw new IllegalArgumentException("creditTokens=" + creditTokens);
    }
    if (lastTurn < NEVER) {
      throw new IllegalArgumentException("lastTurn=" + lastTurn);
    }
  }

  /** Milliseconds of prefill that {@code request} costs here; 0 if its prompt is not known. */
  public double prefillMillis(RoutingRequest request) {
    if (!request.promptKnown()) {
      return 0;
    }
    int prompt = request.promptTokens();
    return prefillCost.millis(prompt - Math.min(creditTokens, prompt), prompt);
  }
}
