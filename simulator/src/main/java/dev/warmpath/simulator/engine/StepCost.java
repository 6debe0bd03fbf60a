package dev.warmpath.simulator.engine;

/**
 * A step that takes longer in proportion to what it computes.
 *
 * @param baseMillis each step
 * @param prefillTokenMillis each prompt token computed
 * @param attentionMillis each pair of a prompt token computed and a context token it attends to
 * @param decodeContextMillis each context token of a sequence that decodes
 * @param hostTokenMillis each prompt token loaded from host memory
 */
public record StepCost(
    double baseMillis,
    double prefillTokenMillis,
    double attentionMillis,
    double decodeContextMillis,
    double hostTokenMillis)
    implements CostModel {

  /** 320 KiB a token, as of a 70B-like model, over four links of 50 GB/s. */
  public static final double HOST_TOKEN_MILLIS = 0.0016;

  /** A 70B-like model on four H100. */
  public static final StepCost H100X4 = new StepCost(15, 0.07, 2e-6, 3.4e-5);

  /** One that loads tokens in {@link #HOST_TOKEN_MILLIS} each. */
  public StepCost(
      double baseMillis,
      double prefillTokenMillis,
      double attentionMillis,
      double decodeContextMillis) {
    this(baseMillis, prefillTokenMillis, attentionMillis, decodeContextMillis, HOST_TOKEN_MILLIS);
  }

  public StepCost {
    if (!(baseMillis >= 0)
        || !(prefillTokenMillis >= 0)
        || !(attentionMillis >= 0)
        || !(decodeContextMillis >= 0)
        || !(hostTokenMillis >= 0)) {
      throw new IllegalArgumentException("negative cost");
    }
  }

  @Override
  public double stepMillis(StepWork work) {
    return baseMillis
        + prefillTokenMillis * work.prefillTokens()
        + attentionMillis * work.attentionPairs()
        + decodeContextMillis * work.decodeContextTokens()
        + hostTokenMillis * work.hostTokens();
  }
}
