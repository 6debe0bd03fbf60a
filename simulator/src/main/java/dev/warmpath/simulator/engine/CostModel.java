package dev.warmpath.simulator.engine;

/**
 * How long a step takes for its work.
 *
 * <p>Thread-safe: the same work takes the same time, always.
 */
@FunctionalInterface
public interface CostModel {

  /** The duration of one step, in milliseconds. */
  double stepMillis(StepWork work);

  /**
   * The step time of NVIDIA Dynamo's mock engine: a parabola over the prompt tokens of the step,
   * and one over the share of the cache in use if anything decodes.
   *
   * @param prefill milliseconds of a step over the prompt tokens that it computes
   * @param decode milliseconds of a step that decodes over the share of blocks in use, 0 to 1
   * @param minDecodeMillis the least that decoding takes
   */
  record PolynomialCost(Parabola prefill, Parabola decode, double minDecodeMillis)
      implements CostModel {

    /** Dynamo's default, H100-like. */
    public static final PolynomialCost DYNAMO =
        new PolynomialCost(
            new Parabola(4.209989e-7, 1.518344e-2, 16.50142), new Parabola(-25.74, 54.01, 5.74), 1);

    /** {@code square·x² + linear·x + constant}. */
    public record Parabola(double square, double linear, double constant) {

      double at(double x) {
        return (square * x + linear) * x + constant;
      }
    }

    @Override
    public double stepMillis(StepWork work) {
      double prompts = work.prefillTokens() == 0 ? 0 : prefill.at(work.prefillTokens());
      double decodes =
          work.decodes() == 0 ? 0 : Math.max(minDecodeMillis, decode.at(work.cacheUsage()));
      return prompts + decodes;
    }
  }
}
