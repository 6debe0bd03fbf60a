package dev.warmpath.router.routing;

/**
 * How long an engine's steps take while it only decodes: {@code stepMillis + contextMillis·K} with
 * K prompt tokens of requests in flight.
 *
 * @param stepMillis a step without context
 * @param contextMillis what one token of context adds to a step
 */
public record DecodeCost(double stepMillis, double contextMillis) {

  /** A large model on four H100. */
  public static final DecodeCost DEFAULT = new DecodeCost(15, 3.4e-5);

  public DecodeCost {
    if (!(stepMillis >= 0 && stepMillis < Double.POSITIVE_INFINITY)
        || !(contextMillis >= 0 && contextMillis < Double.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException(
          "stepMillis=" + stepMillis + " contextMillis=" + contextMillis);
    }
  }

  /** A step with so much context. */
  public double millis(long contextTokens) {
    return stepMillis + contextMillis * contextTokens;
  }
}
