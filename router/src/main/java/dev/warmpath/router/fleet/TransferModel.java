package dev.warmpath.router.fleet;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Learns what it costs to bring KV blocks to one engine: a cost for all that they come from, and by
 * how much each of them differs from it.
 *
 * <p>Confined to its engine's lock.
 */
final class TransferModel {

  /*
   * The cost learns as PrefillModel does, by exponentiated gradient on the logarithm of the time,
   * but boldly at first: links differ by far more than engines, and what was seen to be slow is not
   * asked again soon. Cost and factor move both, so the n-th sample corrects 1/n of the error. A
   * pair's factor takes up what is left of the error, at the same rate, but starts at 1: where an
   * engine stands in the network is no reason to avoid it before it was seen to matter. No more than
   * MOST_PAIRS are remembered; those that were seen longest ago go first.
   */

  private static final double RATE = 0.1;
  private static final double BOUND = 1000;
  private static final double MOST_ERROR = 1;
  private static final double MOST_FIRST_ERROR = 2;
  private static final int FIRST = 5;
  private static final int MOST_PAIRS = 256;

  private TransferCost cost = TransferCost.DEFAULT;
  private int seen;

  private final Map<Integer, Double> factors =
      new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Integer, Double> eldest) {
          return size() > MOST_PAIRS;
        }
      };

  TransferCost cost(int from) {
    double factor = factors.getOrDefault(from, 1.0);
    return new TransferCost(factor * cost.fixedMillis(), factor * cost.millisPerToken());
  }

  /** Keeps so large a part of what was learned, on the logarithm; forgotten is learned boldly. */
  void forget(double kept) {
    TransferCost standard = TransferCost.DEFAULT;
    cost =
        new TransferCost(
            faded(cost.fixedMillis(), kept, standard.fixedMillis()),
            faded(cost.millisPerToken(), kept, standard.millisPerToken()));
    factors.replaceAll((from, factor) -> faded(factor, kept, 1));
    seen = (int) (seen * kept);
  }

  private static double faded(double value, double kept, double standard) {
    return standard * Math.pow(value / standard, kept);
  }

  void observe(int from, int tokens, double millis) {
    if (!(tokens > 0 && millis > 0)) {
      return;
    }
    double fixed = cost.fixedMillis();
    double moving = cost.millisPerToken() * tokens;
    double factor = factors.getOrDefault(from, 1.0);
    double error = Math.log(millis / (factor * (fixed + moving)));
    double most = seen < FIRST ? MOST_FIRST_ERROR : MOST_ERROR;
    double step = Math.max(RATE, 0.5 / ++seen) * Math.max(-most, Math.min(error, most));
    double share = fixed / (fixed + moving);
    TransferCost standard = TransferCost.DEFAULT;
    cost =
        new TransferCost(
            moved(fixed, step * share, standard.fixedMillis()),
            moved(cost.millisPerToken(), step * (1 - share), standard.millisPerToken()));
    factors.put(from, moved(factor, step, 1));
  }

  private static double moved(double value, double step, double standard) {
    double moved = value * Math.exp(step);
    return Math.max(standard / BOUND, Math.min(moved, standard * BOUND));
  }
}
