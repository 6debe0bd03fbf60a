package dev.warmpath.router.console;

/**
 * Tokens of an engine's prompts that were counted.
 *
 * <p>Immutable.
 *
 * @param prompt all of them, if the engine reports cached ones
 * @param cached as the engine reports them
 * @param hit predicted and cached
 * @param missed predicted or cached, and not both
 */
record HitRateCounts(double prompt, double cached, double hit, double missed) {

  static final HitRateCounts NONE = new HitRateCounts(0, 0, 0, 0);

  HitRateCounts plus(HitRateCounts more) {
    return new HitRateCounts(
        prompt + more.prompt, cached + more.cached, hit + more.hit, missed + more.missed);
  }

  /** The rates of what came since {@code before}. */
  HitRates since(HitRateCounts before) {
    double predicted = hit - before.hit + missed - before.missed;
    return new HitRates(
        share(cached - before.cached, prompt - before.prompt),
        share(missed - before.missed, predicted));
  }

  private static double share(double part, double whole) {
    return whole > 0 ? part / whole : Double.NaN;
  }
}
