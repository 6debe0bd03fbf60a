package dev.warmpath.router.routing;

/**
 * Decides whether a request is split over two engines: one computes its prompt, the other one its
 * answer.
 *
 * <p>Thread-safe.
 */
public interface SplitRule {

  /**
   * The two ways of one request. Which engines each of them would take is chosen already.
   *
   * @param promptTokens the prompt's length
   * @param uncachedTokens how many of them the engine would compute that serves it alone
   * @param uncachedAtDecode how many of them the decode's engine does not hold
   * @param aloneMillis what serving it alone costs
   * @param apartMillis what computing its prompt elsewhere and bringing it over costs
   */
  record Ways(
      int promptTokens,
      int uncachedTokens,
      int uncachedAtDecode,
      double aloneMillis,
      double apartMillis) {}

  /** Whether it is split; only asked where both are possible. */
  boolean splits(Ways ways);
}
