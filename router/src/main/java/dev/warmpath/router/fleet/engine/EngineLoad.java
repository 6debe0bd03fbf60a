package dev.warmpath.router.fleet.engine;

import dev.warmpath.router.routing.Load;

/**
 * Counts what an engine was given and has not finished. Every share that is taken is given back
 * once, its prefill part at the first byte or, without one, at the end.
 *
 * <p>Confined to the dispatcher's lock.
 */
public final class EngineLoad {

  private int requests;
  private long prefillTokens;
  private long prefillMicros;
  private long contextTokens;

  /**
   * What one request adds.
   *
   * @param prefillTokens prompt tokens to compute
   * @param prefillMicros the time for these, whole microseconds so that sums return to zero
   * @param contextTokens tokens of its prompt
   */
  public record Share(int prefillTokens, long prefillMicros, int contextTokens) {}

  /** A request with this share was sent. */
  public void add(Share share) {
    requests++;
    prefillTokens += share.prefillTokens();
    prefillMicros += share.prefillMicros();
    contextTokens += share.contextTokens();
  }

  /** Its prompt has been computed. */
  public void prefilled(Share share) {
    prefillTokens -= share.prefillTokens();
    prefillMicros -= share.prefillMicros();
  }

  /** It is over, after {@link #prefilled}. */
  public void remove(Share share) {
    requests--;
    contextTokens -= share.contextTokens();
  }

  /** The counts now. */
  public Load snapshot() {
    return new Load(requests, prefillTokens, prefillMicros / 1000.0, contextTokens);
  }
}
