package dev.warmpath.router.routing;

/**
 * What one engine has been given and has not yet finished, as the router itself counts it.
 *
 * <p>Immutable.
 *
 * @param requestsInFlight requests from dispatch to last byte
 * @param requestsWaiting those of them whose prompts are still to be computed
 * @param queuedPrefillTokens prompt tokens still to be computed: of requests without a first byte,
 *     what was not credited when they were dispatched
 * @param queuedPrefillMillis the time that these take, as it was predicted at dispatch
 * @param contextTokens prompt tokens of the requests in flight, credited or not
 */
public record Load(
    int requestsInFlight,
    int requestsWaiting,
    long queuedPrefillTokens,
    double queuedPrefillMillis,
    long contextTokens) {

  /** Nothing in flight. */
  public static final Load NONE = new Load(0, 0, 0, 0, 0);

  public Load {
    if (requestsInFlight < 0) {
      throw new IllegalArgumentException("requestsInFlight=" + requestsInFlight);
    }
    if (requestsWaiting < 0 || requestsWaiting > requestsInFlight) {
      throw new IllegalArgumentException("requestsWaiting=" + requestsWaiting);
    }
    if (queuedPrefillTokens < 0) {
      throw new IllegalArgumentException("queuedPrefillTokens=" + queuedPrefillTokens);
    }
    if (!(queuedPrefillMillis >= 0 && queuedPrefillMillis < Double.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException("queuedPrefillMillis=" + queuedPrefillMillis);
    }
    if (contextTokens < 0) {
      throw new IllegalArgumentException("contextTokens=" + contextTokens);
    }
  }
}
